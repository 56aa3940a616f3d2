import type { NatsNames } from '@opsplane/contracts'
import { type NatsLink, publishHint } from '@opsplane/nats'

/** Notifies the replica that executes a run of new signals in its inbox. A notification may be lost. */
export interface RunNotifications {
  notify(runId: string): void
  close(): void
}

export function createRunNotifications(
  link: NatsLink,
  names: NatsNames,
  onNotification: (runId: string) => void,
): RunNotifications {
  const subject = names.wakeSubject('workflows', 'run-news')
  const closing = new AbortController()
  void link
    .ready(closing.signal)
    .then((connection) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) onNotification(message.string())
        },
      })
      closing.signal.addEventListener('abort', () => subscription.unsubscribe())
    })
    .catch(() => {})
  return {
    notify: (runId) => publishHint(link, subject, runId),
    close: () => closing.abort(),
  }
}
