import { ApiError } from '@opsplane/contracts'
import { createKeyedCounts, delay } from '@opsplane/runtime'

/** The operations a pool needs of a connection. */
export interface PooledConnection {
  isOpen(): boolean
  /** Resets the session to its initial state; `false` if it must be closed instead. */
  reset(): Promise<boolean>
  close(): Promise<void>
}

interface ConnectionPoolOptions<Key, Connection extends PooledConnection> {
  /** Maximum number of connections. */
  max: number
  /** Maximum number of connections of one name. */
  maxEach: number
  /** Unused connections are closed after this time. */
  idleMs: number
  /** Connections of the same name are interchangeable. */
  nameOf(key: Key): string
  /** The group with the fewest connections in use is served first. */
  groupOf(key: Key): string
  open(key: Key): Promise<Connection>
}

/** Connections of several names, each used by one caller at a time. */
interface ConnectionPool<Key, Connection extends PooledConnection> {
  /** Throws `service_unavailable` once the pool is closed, or if too many callers are waiting. */
  acquire(key: Key): Promise<Connection>
  release(key: Key, connection: Connection): Promise<void>
  counts(): { open: number; idle: number; waiting: number }
  close(): Promise<void>
}

interface Idle<Connection> {
  name: string
  connection: Connection
  since: number
}

interface Waiter<Key, Connection> {
  key: Key
  name: string
  group: string
  resolve(connection: Connection): void
  reject(error: unknown): void
}

const maxWaiting = 10_000
/**
 * Maximum number of consecutive uses within a connection's own name while callers of another name wait: replacing
 * a connection costs a login.
 */
const longestStreak = 16

export function createConnectionPool<Key, Connection extends PooledConnection>({
  max,
  maxEach,
  idleMs,
  nameOf,
  groupOf,
  open,
}: ConnectionPoolOptions<Key, Connection>): ConnectionPool<Key, Connection> {
  /** Least recently used first. */
  const idle: Idle<Connection>[] = []
  const waiting: Waiter<Key, Connection>[] = []
  /** Number of connections, including those being opened, by name. */
  const counts = createKeyedCounts()
  /** Number of connections in use, by group. */
  const lent = createKeyedCounts()
  const streaks = new WeakMap<Connection, number>()
  let closed = false

  const forget = (name: string) => {
    counts.add(name, -1)
  }
  const drop = async ({ name, connection }: Pick<Idle<Connection>, 'name' | 'connection'>) => {
    // The slot is free only once the server has closed the connection; otherwise the limit would be exceeded.
    await connection.close().catch(() => {})
    forget(name)
    serve()
  }
  const lend = ({ group, resolve }: Waiter<Key, Connection>, connection: Connection) => {
    lent.add(group, 1)
    resolve(connection)
  }

  async function make(waiter: Waiter<Key, Connection>): Promise<void> {
    counts.add(waiter.name, 1)
    try {
      lend(waiter, await open(waiter.key))
    } catch (error) {
      forget(waiter.name)
      waiter.reject(error)
      serve()
    }
  }

  /**
   * Whether the waiter is served now: by an idle connection of its name, or by opening one. If the pool is full,
   * closes the oldest idle connection to make room.
   */
  function tryServe(waiter: Waiter<Key, Connection>): boolean {
    const own = idle.findLastIndex(({ name }) => name === waiter.name)
    const [found] = own < 0 ? [] : idle.splice(own, 1)
    if (found?.connection.isOpen()) {
      lend(waiter, found.connection)
      return true
    }
    if (found) void drop(found)
    if (counts.of(waiter.name) >= maxEach) return false
    if (counts.total < max) {
      void make(waiter)
      return true
    }
    const oldest = idle.shift()
    if (oldest) void drop(oldest)
    return false
  }

  /** Callers of the group with the fewest connections come first; among equals, the one that has waited longest. */
  function serve(): void {
    const fair = [...waiting].sort((a, b) => countLent(a) - countLent(b))
    for (const waiter of fair) if (tryServe(waiter)) waiting.splice(waiting.indexOf(waiter), 1)
  }
  const countLent = ({ group }: Waiter<Key, Connection>) => lent.of(group)

  const sweep = setInterval(() => {
    const before = performance.now() - idleMs
    for (const each of idle.filter(({ since }) => since < before)) {
      idle.splice(idle.indexOf(each), 1)
      void drop(each)
    }
  }, idleMs / 2)
  sweep.unref()

  return {
    acquire: (key) =>
      new Promise((resolve, reject) => {
        if (closed || waiting.length >= maxWaiting) return reject(unavailable())
        const waiter = { key, name: nameOf(key), group: groupOf(key), resolve, reject }
        if (waiting.some(({ name }) => name === waiter.name) || !tryServe(waiter)) waiting.push(waiter)
      }),
    async release(key, connection) {
      const name = nameOf(key)
      const usable = !closed && connection.isOpen() && (await isReset(connection))
      lent.add(groupOf(key), -1)
      if (!usable || closed) return drop({ name, connection })
      const next = waiting.findIndex((waiter) => waiter.name === name)
      const streak = (streaks.get(connection) ?? 0) + 1
      streaks.set(connection, next < 0 ? 0 : streak % longestStreak)
      const [waiter] = next >= 0 && streak < longestStreak ? waiting.splice(next, 1) : []
      if (waiter) return lend(waiter, connection)
      idle.push({ name, connection, since: performance.now() })
      serve()
    },
    counts: () => ({ open: counts.total, idle: idle.length, waiting: waiting.length }),
    async close() {
      closed = true
      clearInterval(sweep)
      for (const { reject } of waiting.splice(0)) reject(unavailable())
      await Promise.all(idle.splice(0).map(drop))
    },
  }
}

/** Timeout of a reset: a server may never answer, and its slot would never be free again. */
const resetMs = 5_000

async function isReset(connection: PooledConnection): Promise<boolean> {
  const timeout = new AbortController()
  try {
    return await Promise.race([connection.reset(), delay(resetMs, timeout.signal).then(() => false)])
  } finally {
    timeout.abort()
  }
}

const unavailable = () =>
  new ApiError('service_unavailable', 'No connection to the database is free. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
  })
