import type { NatsNames } from '@opsplane/contracts'
import { type NatsLink, publishHint } from '@opsplane/nats'

/** Tells whoever works on a run, in another replica, that there is news for it: a hint, which may be lost. */
export interface News {
  tell(runId: string): void
  close(): void
}

export function createNews(link: NatsLink, names: NatsNames, heard: (runId: string) => void): News {
  const subject = names.wakeSubject('workflows', 'run-news')
  const closing = new AbortController()
  void link
    .ready(closing.signal)
    .then((connection) => {
      const subscription = connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) heard(message.string())
        },
      })
      closing.signal.addEventListener('abort', () => subscription.unsubscribe())
    })
    .catch(() => {})
  return {
    tell: (runId) => publishHint(link, subject, runId),
    close: () => closing.abort(),
  }
}
