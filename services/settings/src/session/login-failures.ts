import { type Instant, systemActor } from '@opsplane/contracts'
import { type Database, toStatementRunner } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { inArray } from 'drizzle-orm'
import { accounts } from '../schema.js'
import { recordLoginFailed } from './session-log.js'

/** Interval in which the failures of a login are reported at most once, in milliseconds. */
const flushEveryMs = 60_000
const maxAddresses = 10
/** Maximum number of e-mails counted at the same time; further ones in a flood are ignored. */
const maxCounted = 5_000
const maxFlushed = 200

interface Count {
  failures: number
  refusals: number
  addresses: Set<string>
  from: Instant
  to: Instant
  /** Time of the last report. */
  flushedMs: number
}

export interface LoginFailureCount {
  /** `refused`: the attempt was throttled and not checked. Never fails, and takes the same time for every e-mail. */
  note(email: string, kind: 'failed' | 'refused', origin: { address: string; now: Instant }): void
  /** Reports the remaining counts. */
  close(): Promise<void>
}

export interface LoginFailureOptions {
  database: Pick<Database, 'db'>
  relay: { wake(): void }
  log: Logger
  nowMs: () => number
  lookEveryMs?: number
}

/**
 * Counts failed logins in memory by e-mail. Records at most one event a minute per login, the first one immediately.
 * A flood of failed logins becomes a few events, and unknown addresses cause none.
 */
export function createLoginFailures(options: LoginFailureOptions): LoginFailureCount {
  const { database, relay, log, nowMs, lookEveryMs = 1_000 } = options
  const counts = new Map<string, Count>()

  const isDue = ({ flushedMs }: Count) => nowMs() - flushedMs >= flushEveryMs
  const flush = async (isSelected: (count: Count) => boolean) => {
    const due = [...counts].filter(([, count]) => isSelected(count))
    for (const [email, { failures, refusals }] of due) if (failures + refusals === 0) counts.delete(email)
    const nonEmptyCounts = due
      .filter(([, { failures, refusals }]) => failures + refusals > 0)
      .slice(0, maxFlushed)
    if (nonEmptyCounts.length === 0) return
    const snapshot = new Map(nonEmptyCounts.map(([email, count]) => [email, { ...count }]))
    for (const [, count] of nonEmptyCounts)
      Object.assign(count, nothingSince(count.to), { flushedMs: nowMs() })
    try {
      await appendFailures(database, snapshot)
      relay.wake()
    } catch (error) {
      log.warn({ err: error, logins: snapshot.size }, 'failed logins could not be recorded as events')
    }
  }
  let flushing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  /** Flushes periodically until there are no counts. */
  const watch = () => {
    timer ??= setInterval(() => {
      if (counts.size > 0) {
        flushing = flushing.then(() => flush(isDue))
        return
      }
      clearInterval(timer)
      timer = undefined
    }, lookEveryMs).unref()
  }

  return {
    note(email, kind, { address, now }) {
      const fresh = { ...nothingSince(now), flushedMs: Number.NEGATIVE_INFINITY }
      const count = counts.get(email) ?? (counts.size < maxCounted ? fresh : undefined)
      if (count === undefined) return
      counts.set(email, count)
      watch()
      if (count.failures + count.refusals === 0) count.from = now
      if (kind === 'failed') count.failures++
      else count.refusals++
      if (count.addresses.size < maxAddresses) count.addresses.add(address.slice(0, 100))
      count.to = now
    },

    async close() {
      clearInterval(timer)
      await flushing
      await flush(() => true)
    },
  }
}

const nothingSince = (now: Instant) => ({
  ...{ failures: 0, refusals: 0, from: now, to: now },
  addresses: new Set<string>(),
})

/** E-mails without a login are not reported. */
async function appendFailures(
  { db }: Pick<Database, 'db'>,
  snapshot: ReadonlyMap<string, Count>,
): Promise<void> {
  const known = await db
    .select({ id: accounts.id, name: accounts.name, email: accounts.email })
    .from(accounts)
    .where(inArray(accounts.email, [...snapshot.keys()]))
  for (const { id, name, email } of known) {
    const count = snapshot.get(email ?? '')
    if (!count) continue
    const { failures, refusals, addresses, from, to } = count
    const reported = { id, failures, refusals, addresses: [...addresses], from, to }
    await db.transaction((tx) =>
      recordLoginFailed({ db: tx, run: toStatementRunner(tx) }, reported, name ?? '', {
        ...{ actor: systemActor, now: to, requestId: null },
      }),
    )
  }
}
