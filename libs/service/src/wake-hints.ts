import type { NatsNames } from '@opsplane/contracts'
import { type NatsLink, publishHint } from '@opsplane/nats'
import type { WakeHints } from '@opsplane/postgres'

/** Wakes the same work in other replicas of the service. Hints may be lost: polling finds the work anyway. */
export function wakeHints(link: NatsLink, names: NatsNames, service: string): WakeHints {
  return {
    send: (work) => publishHint(link, names.wakeSubject(service, work)),
    subscribe(work, wake) {
      const closing = new AbortController()
      void link
        .ready(closing.signal)
        .then((connection) => {
          const subscription = connection.subscribe(names.wakeSubject(service, work), { callback: wake })
          closing.signal.addEventListener('abort', () => subscription.unsubscribe())
        })
        .catch(() => {})
      return () => closing.abort()
    },
  }
}
