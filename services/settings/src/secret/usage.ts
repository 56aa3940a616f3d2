import type { Instant, SecretUse } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { eq, inArray, sql } from 'drizzle-orm'
import { secretUsage } from '../schema.js'

/** A secret that services resolve all the time is written once in this time. */
const writeEveryMs = 60_000

interface Uses {
  /** Not in the table yet. */
  unwritten: number
  lastUsedAt: Instant
  lastUsedBy: string
  writtenMs: number
}

/** Who used a secret: a service, and at what time. */
interface Occasion {
  service: string
  now: Instant
}

export interface SecretUsage {
  /** Counts one resolution of each of the secrets. Never fails: what cannot be written is written later. */
  note(secretIds: readonly string[], occasion: Occasion): Promise<void>
  /** Of each of the secrets; those never used are absent. */
  of(secretIds: string[]): Promise<Map<string, SecretUse>>
  forget(secretId: string): Promise<void>
  /** Writes what is left. */
  close(): Promise<void>
}

export interface SecretUsageOptions {
  db: Drizzle
  log: Logger
  nowMs: () => number
  /** How often it looks for what may be written by now. */
  lookEveryMs?: number
}

export const neverUsed: SecretUse = { lastUsedAt: null, lastUsedBy: null, useCount: 0 }

/**
 * Counts uses in memory and writes each secret's at most once a minute, the first one at once. A crash loses those of
 * the last minute.
 */
export function createSecretUsage(options: SecretUsageOptions): SecretUsage {
  const { log, nowMs } = options
  const known = new Map<string, Uses>()

  const write = async (wanted: (uses: Uses) => boolean): Promise<void> => {
    const taken = [...known].filter(([, uses]) => uses.unwritten > 0 && wanted(uses))
    if (taken.length === 0) return
    const rows = taken.map(([secretId, { unwritten, lastUsedAt, lastUsedBy }]) => ({
      ...{ secretId, useCount: unwritten, lastUsedAt, lastUsedBy },
    }))
    for (const [, uses] of taken) Object.assign(uses, { unwritten: 0, writtenMs: nowMs() })
    try {
      await addUses(options.db, rows)
    } catch (error) {
      for (const [index, [, uses]] of taken.entries()) uses.unwritten += rows[index]?.useCount ?? 0
      log.warn({ err: error }, 'uses of secrets are not written yet')
    }
  }

  const isDue = ({ writtenMs }: Uses) => nowMs() - writtenMs >= writeEveryMs
  const look = async () => {
    await write(isDue)
    for (const [id, uses] of known) if (uses.unwritten === 0 && isDue(uses)) known.delete(id)
  }
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, options.lookEveryMs ?? 5_000)
  timer.unref()

  return {
    async note(secretIds, { service, now }) {
      for (const id of secretIds) {
        const uses = known.get(id) ?? { unwritten: 0, writtenMs: Number.NEGATIVE_INFINITY }
        // The same object as before: a write under way may give back what it could not write.
        known.set(
          id,
          Object.assign(uses, { unwritten: uses.unwritten + 1, lastUsedAt: now, lastUsedBy: service }),
        )
      }
      await write(isDue)
    },

    async of(secretIds) {
      if (secretIds.length === 0) return new Map()
      const rows = await options.db.select().from(secretUsage).where(inArray(secretUsage.secretId, secretIds))
      return new Map(rows.map(({ secretId, ...use }) => [secretId, use]))
    },

    async forget(secretId) {
      known.delete(secretId)
      await options.db.delete(secretUsage).where(eq(secretUsage.secretId, secretId))
    },

    async close() {
      clearInterval(timer)
      await looking
      await write(() => true)
    },
  }
}

type Row = typeof secretUsage.$inferInsert

async function addUses(db: Drizzle, rows: Row[]): Promise<void> {
  const { useCount, lastUsedAt, lastUsedBy } = secretUsage
  await db
    .insert(secretUsage)
    // In one order, so that two replicas do not wait for each other.
    .values(rows.toSorted((a, b) => (a.secretId < b.secretId ? -1 : 1)))
    .onConflictDoUpdate({
      target: secretUsage.secretId,
      set: {
        useCount: sql`${useCount} + excluded.use_count`,
        lastUsedBy: sql`case when excluded.last_used_at >= ${lastUsedAt} then excluded.last_used_by else ${lastUsedBy} end`,
        lastUsedAt: sql`greatest(${lastUsedAt}, excluded.last_used_at)`,
      },
    })
}
