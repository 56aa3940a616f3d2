import { createHash } from 'node:crypto'
import type { OutboundStreams } from '@opsplane/http'
import { createConnectionPool } from '@opsplane/postgres'
import type { Call } from '../kind.js'
import { databaseFailure } from './failures.js'
import { type Opening, openSession, type Session, type SessionTarget } from './session.js'
import { StatementNotStartedError } from './statement.js'

export interface Sessions {
  /**
   * Lends a session for the duration of `work`. When the call ends, a running statement is cancelled on the server.
   * Throws `CallFailure`.
   */
  using<T>(call: Call, target: SessionTarget, work: (session: Session) => Promise<T>): Promise<T>
  close(): Promise<void>
}

const maxSessions = 64
/** Databases have few connections, which other clients need as well. */
const maxOfOne = 4
const idleMs = 10_000

interface Key extends Opening {
  name: string
  workspaceId: string
  target: SessionTarget
}

/** Pool of sessions that are kept for a short time, each for one connector and its current configuration. */
export function createSessions(outbound: OutboundStreams): Sessions {
  const pool = createConnectionPool<Key, Session>({
    ...{ max: maxSessions, maxEach: maxOfOne, idleMs },
    nameOf: ({ name }) => name,
    groupOf: ({ workspaceId }) => workspaceId,
    open: ({ target, ...opening }) => openSession(outbound, target, opening),
  })

  const kept = new WeakSet<Session>()

  const acquire = async (key: Key): Promise<Session> => {
    const lent = pool.acquire(key)
    const cancellation = over(key.signal)
    try {
      return await Promise.race([lent, cancellation.promise])
    } catch (error) {
      // The pool may still deliver a session; release it then.
      lent.then(
        (session) => pool.release(key, session),
        () => {},
      )
      throw error
    } finally {
      cancellation.forget()
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
      // The server had closed the idle session: retry with another one, or a new one.
      if (error instanceof StatementNotStartedError && kept.has(session) && !key.signal.aborted)
        return lend(key, work)
      throw error
    } finally {
      key.signal.removeEventListener('abort', stop)
      kept.add(session)
      // Not awaited: a caller that waits for its response must not wait for the pool.
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

/** The name includes the password, so that a session is not shared between credentials. */
function keyOf({ connectorId, tenant }: Call, target: SessionTarget): Pick<Key, 'name' | 'workspaceId'> {
  const digest = createHash('sha256').update(JSON.stringify(target)).digest('base64')
  return { name: `${connectorId}/${digest}`, workspaceId: tenant.workspaceId }
}

function over(signal: AbortSignal): { promise: Promise<never>; forget(): void } {
  let forget = () => {}
  const promise = new Promise<never>((_resolve, reject) => {
    const rejectAborted = () => reject(signal.reason)
    if (signal.aborted) rejectAborted()
    signal.addEventListener('abort', rejectAborted)
    forget = () => signal.removeEventListener('abort', rejectAborted)
  })
  return { promise, forget }
}
