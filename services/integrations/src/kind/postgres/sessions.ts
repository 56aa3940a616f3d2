import { createHash } from 'node:crypto'
import type { OutboundStreams } from '@opsplane/http'
import { createConnectionPool } from '@opsplane/postgres'
import type { Call } from '../kind.js'
import { databaseFailure } from './failures.js'
import { type Opening, openSession, type Session, type SessionTarget } from './session.js'
import { StatementNotStartedError } from './statement.js'

export interface Sessions {
  /**
   * Lends a session for as long as `work` takes; what runs when the call is over is stopped at the server. Throws
   * CallFailure.
   */
  using<T>(call: Call, target: SessionTarget, work: (session: Session) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const most = 64
/** A database has few places, and they are its other users' as well. */
const maxOfOne = 4
const idleMs = 10_000

interface Key extends Opening {
  name: string
  workspaceId: string
  target: SessionTarget
}

/** Sessions that are kept for a moment, each for one connector as it is configured then. */
export function createSessions(outbound: OutboundStreams): Sessions {
  const pool = createConnectionPool<Key, Session>({
    ...{ max: most, maxEach: maxOfOne, idleMs },
    nameOf: ({ name }) => name,
    groupOf: ({ workspaceId }) => workspaceId,
    open: ({ target, ...opening }) => openSession(outbound, target, opening),
  })

  const kept = new WeakSet<Session>()

  const acquire = async (key: Key): Promise<Session> => {
    const lent = pool.acquire(key)
    const gone = over(key.signal)
    try {
      return await Promise.race([lent, gone.promise])
    } catch (error) {
      // Its turn may come yet.
      lent.then(
        (session) => pool.release(key, session),
        () => {},
      )
      throw error
    } finally {
      gone.forget()
    }
  }

  const lend = async <T>(key: Key, work: (session: Session) => Promise<T>): Promise<T> => {
    const session = await acquire(key)
    const stop = () => session.abandon()
    key.signal.addEventListener('abort', stop)
    if (key.signal.aborted) stop()
    try {
      return await work(session)
    } catch (error) {
      // Its server had closed it meanwhile: there are others, and then a new one.
      if (error instanceof StatementNotStartedError && kept.has(session) && !key.signal.aborted)
        return lend(key, work)
      throw error
    } finally {
      key.signal.removeEventListener('abort', stop)
      kept.add(session)
      // A caller that waits for an answer does not wait for the next one's session.
      void pool.release(key, session)
    }
  }

  return {
    async using(call, target, work) {
      const { signal } = call
      const key = { ...keyOf(call, target), target, signal, timeoutMs: call.remainingMs() }
      try {
        return await lend(key, work)
      } catch (error) {
        throw signal.aborted ? signal.reason : databaseFailure(error)
      }
    },
    close: () => pool.close(),
  }
}

/** Sessions of one password are none of another. */
function keyOf({ connectorId, tenant }: Call, target: SessionTarget): Pick<Key, 'name' | 'workspaceId'> {
  const digest = createHash('sha256').update(JSON.stringify(target)).digest('base64')
  return { name: `${connectorId}/${digest}`, workspaceId: tenant.workspaceId }
}

function over(signal: AbortSignal): { promise: Promise<never>; forget(): void } {
  let forget = () => {}
  const promise = new Promise<never>((_resolve, reject) => {
    const gone = () => reject(signal.reason)
    if (signal.aborted) gone()
    signal.addEventListener('abort', gone)
    forget = () => signal.removeEventListener('abort', gone)
  })
  return { promise, forget }
}
