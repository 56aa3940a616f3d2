import type { Instant, SecretGrantUse, SecretUse } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { desc, eq, inArray, sql } from 'drizzle-orm'
import { secretUsage } from '../schema.js'

/** Repeated uses are written once per interval, in milliseconds. */
const writeEveryMs = 60_000
const maxShown = 100

/** The use of a secret: the service, the consumer, the person, the host and the time. */
export interface SecretUseContext {
  service: string
  consumer: string
  userId: string
  host: string
  now: Instant
}

interface Uses extends Omit<SecretUseContext, 'now'> {
  secretId: string
  /** Uses that are not in the table yet. */
  unwritten: number
  lastUsedAt: Instant
  writtenMs: number
}

export interface SecretUsage {
  /** Counts one resolution of each of the secrets. Never fails: a failed write is repeated later. */
  note(secretIds: readonly string[], context: SecretUseContext): Promise<void>
  /** The last use of each of the secrets; unused ones are absent. */
  of(secretIds: string[]): Promise<Map<string, SecretUse>>
  /** The consumers of the secret, with person and host, latest first; at most 100. */
  grants(secretId: string): Promise<SecretGrantUse[]>
  forget(secretId: string): Promise<void>
  /** Writes the remaining uses. */
  close(): Promise<void>
}

export interface SecretUsageOptions {
  db: Drizzle
  log: Logger
  nowMs: () => number
  /** Interval between checks for uses to write, in milliseconds. */
  lookEveryMs?: number
}

export const neverUsed: SecretUse = { lastUsedAt: null, lastUsedBy: null, useCount: 0 }

/**
 * Counts uses in memory and writes those of each kind at most once a minute, the first one immediately. A crash loses
 * the uses of the last minute.
 */
export function createSecretUsage(options: SecretUsageOptions): SecretUsage {
  const { log, nowMs } = options
  const known = new Map<string, Uses>()

  const write = async (isSelected: (uses: Uses) => boolean): Promise<void> => {
    const selectedUses = [...known.values()].filter((uses) => uses.unwritten > 0 && isSelected(uses))
    if (selectedUses.length === 0) return
    const rows = selectedUses.map(({ unwritten: useCount, writtenMs: _, service: lastUsedBy, ...uses }) => ({
      ...uses,
      ...{ useCount, lastUsedBy },
    }))
    for (const uses of selectedUses) Object.assign(uses, { unwritten: 0, writtenMs: nowMs() })
    try {
      await addUses(options.db, rows)
    } catch (error) {
      for (const [index, uses] of selectedUses.entries()) uses.unwritten += rows[index]?.useCount ?? 0
      log.warn({ err: error }, 'uses of secrets could not be recorded yet; trying again')
    }
  }

  const isDue = ({ writtenMs }: Uses) => nowMs() - writtenMs >= writeEveryMs
  const writeDue = async () => {
    await write(isDue)
    for (const [key, uses] of known) if (uses.unwritten === 0 && isDue(uses)) known.delete(key)
  }
  let writing = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  /** Starts periodic checks, which stop when no uses are left in memory. */
  const watch = () => {
    timer ??= setInterval(() => {
      if (known.size > 0) {
        writing = writing.then(writeDue)
        return
      }
      clearInterval(timer)
      timer = undefined
    }, options.lookEveryMs ?? 5_000).unref()
  }

  return {
    async note(secretIds, { now, ...what }) {
      for (const secretId of secretIds) {
        const key = JSON.stringify([secretId, what.consumer, what.userId, what.host, what.service])
        const first = {
          secretId,
          ...what,
          unwritten: 0,
          lastUsedAt: now,
          writtenMs: Number.NEGATIVE_INFINITY,
        }
        const uses = known.get(key) ?? first
        // Keeps the same object, because a failed write in flight adds its uses back to it.
        known.set(key, Object.assign(uses, { unwritten: uses.unwritten + 1, lastUsedAt: now }))
        watch()
      }
      await write(isDue)
    },

    async of(secretIds) {
      if (secretIds.length === 0) return new Map()
      const rows = await options.db
        .select({
          secretId: secretUsage.secretId,
          useCount: sql<string>`sum(${secretUsage.useCount})`,
          lastUsedAt: sql<string>`max(${secretUsage.lastUsedAt})`,
          lastUsedBy: sql<string>`(array_agg(${secretUsage.lastUsedBy} order by ${secretUsage.lastUsedAt} desc))[1]`,
        })
        .from(secretUsage)
        .where(inArray(secretUsage.secretId, secretIds))
        .groupBy(secretUsage.secretId)
      return new Map(
        rows.map(({ secretId, useCount, ...last }) => [secretId, { ...last, useCount: Number(useCount) }]),
      )
    },

    async grants(secretId) {
      const rows = await options.db
        .select()
        .from(secretUsage)
        .where(eq(secretUsage.secretId, secretId))
        .orderBy(desc(secretUsage.lastUsedAt))
        .limit(maxShown)
      return rows.map(({ secretId: _, lastUsedBy: service, ...use }) => ({ ...use, service }))
    },

    async forget(secretId) {
      for (const [key, uses] of known) if (uses.secretId === secretId) known.delete(key)
      await options.db.delete(secretUsage).where(eq(secretUsage.secretId, secretId))
    },

    async close() {
      clearInterval(timer)
      await writing
      await write(() => true)
    },
  }
}

type Row = typeof secretUsage.$inferInsert

async function addUses(db: Drizzle, rows: Row[]): Promise<void> {
  const { secretId, consumer, userId, host, lastUsedBy, useCount, lastUsedAt } = secretUsage
  const keyOf = (row: Row) => [row.secretId, row.consumer, row.userId, row.host, row.lastUsedBy].join('\0')
  await db
    .insert(secretUsage)
    // Sorted, so that two replicas do not deadlock.
    .values(rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    .onConflictDoUpdate({
      target: [secretId, consumer, userId, host, lastUsedBy],
      set: {
        useCount: sql`${useCount} + excluded.use_count`,
        lastUsedAt: sql`greatest(${lastUsedAt}, excluded.last_used_at)`,
      },
    })
}
