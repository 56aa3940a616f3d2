import type { Drizzle } from '@opsplane/postgres'
import { eq, sql } from 'drizzle-orm'
import { deadLetters } from '../tables.js'
import { errorText } from './error-text.js'
import type { Transaction } from './transaction.js'

export type DeadLetter = typeof deadLetters.$inferSelect

/** A dead letter that is marked, locked until the transaction ends. */
export interface MarkedLetter {
  letter: DeadLetter
  /** Its effect, undone alone where it fails. */
  effect(apply: (tx: Transaction) => Promise<void>): Promise<void>
  /** It is handled, and gone with the commit of its effect. */
  end(): Promise<void>
  /** It is a dead letter as before, with the new error. */
  failed(error: unknown): Promise<void>
}

export interface RedriveStore {
  /**
   * The next marked letter above this id that no other replica has locked: what `redo` does is one transaction. Resolves with its id, or
   * undefined where there is none.
   */
  nextMarked(after: number, redo: (marked: MarkedLetter) => Promise<void>): Promise<number | undefined>
}

export const createRedriveStore = (db: Drizzle, consumer: string): RedriveStore => ({
  nextMarked: (after, redo) =>
    db.transaction(async (tx) => {
      const [letter] = await tx
        .select()
        .from(deadLetters)
        .where(sql`consumer = ${consumer} and redriven_at is not null and id > ${after}`)
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
            .set({ error: errorText(error), deliveries, redrivenAt: null })
            .where(own)
        },
      })
      return letter.id
    }),
})
