import { ChangedSignal, type NatsNames, parseExact, type TenantScope } from '@opsplane/contracts'
import { listenForHints, type NatsLink } from '@opsplane/nats'
import { type ChangesListener, gatherChanges } from './gathered-changes.js'

export interface Changes {
  /** Calls `listener` at most once per second and type, until the returned function is called. */
  follow(tenant: TenantScope, listener: ChangesListener): () => void
  close(): Promise<void>
}

export interface ChangesOptions {
  link: NatsLink
  names: Pick<NatsNames, 'changedSubject'>
}

/** Subscribes to the change signals of each tenant with readers. All readers of a tenant share one subscription. */
export function createChanges({ link, names }: ChangesOptions): Changes {
  const followed = new Map<string, ReturnType<typeof followSubject>>()

  const followSubject = (subject: string) => {
    const listeners = new Set<ChangesListener>()
    const gathered = gatherChanges((changed) => {
      for (const listener of [...listeners]) listener(changed)
    })
    const hints = listenForHints(link, subject, (message) => {
      if (message === undefined) return gathered.missed()
      const signal = parseSignal(message.string())
      if (signal) gathered.add(signal)
    })
    const close = () => {
      gathered.close()
      return hints.close()
    }
    return { listeners, close }
  }

  return {
    follow(tenant, listener) {
      const subject = names.changedSubject(tenant)
      const tail = followed.get(subject) ?? followSubject(subject)
      followed.set(subject, tail)
      tail.listeners.add(listener)
      return () => {
        tail.listeners.delete(listener)
        if (tail.listeners.size > 0 || followed.get(subject) !== tail) return
        followed.delete(subject)
        void tail.close()
      }
    },
    async close() {
      await Promise.all([...followed.values()].map((tail) => tail.close()))
    },
  }
}

function parseSignal(text: string): ChangedSignal | undefined {
  try {
    return ChangedSignal.safeParse(parseExact(text)).data
  } catch {
    return undefined
  }
}
