import { ApiError } from '@opsplane/contracts'
import { createKeyedCounts, delay } from '@opsplane/runtime'

/** A connection as a pool needs it. */
export interface PooledConnection {
  isOpen(): boolean
  /** Makes it as new; false where it must be closed instead. */
  reset(): Promise<boolean>
  close(): Promise<void>
}

interface ConnectionPoolOptions<Key, Connection extends PooledConnection> {
  /** Most connections in all. */
  max: number
  /** Most of one name. */
  maxEach: number
  /** Unused ones are closed after so long. */
  idleMs: number
  /** Connections of one name can stand in for each other. */
  nameOf(key: Key): string
  /** The group with the fewest connections is served first. */
  groupOf(key: Key): string
  open(key: Key): Promise<Connection>
}

/** Connections of several names, each lent to one user at a time. */
interface ConnectionPool<Key, Connection extends PooledConnection> {
  /** Throws `service_unavailable` once closed, or where too many wait. */
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
/** How often in a row a connection goes on to others of its own name while those of another wait: to change it takes a login. */
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
  /** Connections there are or that are being made, by name. */
  const counts = createKeyedCounts()
  /** Connections that are lent, by group. */
  const lent = createKeyedCounts()
  const streaks = new WeakMap<Connection, number>()
  let closed = false

  const forget = (name: string) => {
    counts.add(name, -1)
  }
  const drop = async ({ name, connection }: Pick<Idle<Connection>, 'name' | 'connection'>) => {
    // Its place is free once the server has let it go, or the limit would be passed.
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

  /** Whether this one can be given a connection now; takes one that is idle, or the place of another's. */
  function take(waiter: Waiter<Key, Connection>): boolean {
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

  /** Who has least comes first; among equals, who has waited longest. */
  function serve(): void {
    const fair = [...waiting].sort((a, b) => held(a) - held(b))
    for (const waiter of fair) if (take(waiter)) waiting.splice(waiting.indexOf(waiter), 1)
  }
  const held = ({ group }: Waiter<Key, Connection>) => lent.of(group)

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
        if (waiting.some(({ name }) => name === waiter.name) || !take(waiter)) waiting.push(waiter)
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

/** A server may never answer: one that takes so long counts as failed, or its place would never be free again. */
const resetMs = 5_000

async function isReset(connection: PooledConnection): Promise<boolean> {
  const ended = new AbortController()
  try {
    return await Promise.race([connection.reset(), delay(resetMs, ended.signal).then(() => false)])
  } finally {
    ended.abort()
  }
}

const unavailable = () =>
  new ApiError('service_unavailable', 'No connection to the database is free. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
  })
