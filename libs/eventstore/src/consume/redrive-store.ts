import { type Database, openClient } from '@opsplane/postgres'
import { eq, type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/postgres-js'
import { deadLetters } from '../tables.js'
import { describeFailure } from './failure.js'
import type { Transaction } from './transaction.js'

export type DeadLetter = typeof deadLetters.$inferSelect

/** A dead letter marked for redrive, locked until the transaction ends. */
export interface MarkedLetter {
  letter: DeadLetter
  /** Applies the effect; only the effect is rolled back if it fails. */
  effect(apply: (tx: Transaction) => Promise<void>): Promise<void>
  /** The letter is handled, and is deleted with the commit of its effect. */
  end(): Promise<void>
  /** The letter stays a dead letter, with the new error. */
  failed(error: unknown): Promise<void>
}

export interface RedriveStore {
  /**
   * Runs `redo` for the next marked letter above this id that no other replica has locked, in one transaction.
   * Resolves to its id, or `undefined` if there is none.
   */
  nextMarked(after: number, redo: (letter: MarkedLetter) => Promise<void>): Promise<number | undefined>
}

/**
 * Uses a separate connection, opened when something is marked: handlers whose effects commit on their own take
 * connections from the pools while the letter is locked.
 */
export const createRedriveStore = (
  { db, url, schema }: Pick<Database, 'db' | 'url' | 'schema'>,
  consumer: string,
): RedriveStore => ({
  async nextMarked(after, redo) {
    const marked = sql`consumer = ${consumer} and redriven_at is not null and id > ${after}`
    const waiting = await db.select({ id: deadLetters.id }).from(deadLetters).where(marked).limit(1)
    if (waiting.length === 0) return undefined
    const client = openClient(url, { schema, max: 1 })
    try {
      return await drizzle(client).transaction((tx) => redoNext(tx, marked, redo))
    } finally {
      await client.end({ timeout: 5 })
    }
  },
})

async function redoNext(
  tx: Transaction,
  markedCondition: SQL,
  redo: (markedLetter: MarkedLetter) => Promise<void>,
): Promise<number | undefined> {
  const [letter] = await tx
    .select()
    .from(deadLetters)
    .where(markedCondition)
    .orderBy(deadLetters.id)
    .limit(1)
    .for('update', { skipLocked: true })
  if (!letter) return undefined
  const own = eq(deadLetters.id, letter.id)
  await redo({
    letter,
    effect: (apply) => tx.transaction(apply),
    end: async () => void (await tx.delete(deadLetters).where(own)),
    async failed(error) {
      const deliveries = sql`${deadLetters.deliveries} + 1`
      await tx
        .update(deadLetters)
        .set({ ...describeFailure(error), deliveries, redrivenAt: null })
        .where(own)
    },
  })
  return letter.id
}
