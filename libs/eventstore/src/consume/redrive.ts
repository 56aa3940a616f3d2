import type { NatsNames } from '@opsplane/contracts'
import { listenForHints, type NatsLink } from '@opsplane/nats'
import { type Database, isDependencyAway } from '@opsplane/postgres'
import { delay, type Logger, retryDelayMs } from '@opsplane/runtime'
import { asc, eq, sql } from 'drizzle-orm'
import { deadLetters } from '../tables.js'
import { createWaker } from '../waker.js'
import { errorText } from './error-text.js'
import type { Transaction } from './transaction.js'

export type DeadLetter = typeof deadLetters.$inferSelect

export interface RedriveOptions {
  database: Database
  link: NatsLink
  names: NatsNames
  consumer: string
  log: Logger
  /** Hands it to the consumer's handler, whose effect is committed with the end of the dead letter if it uses `tx`. */
  apply(letter: DeadLetter, tx: Transaction): Promise<void>
}

/** A hint is what wakes; a look so often is for those that were lost. */
const lookEveryMs = 300_000

/** The subject under which whoever redrives dead letters of a consumer says so. */
export const redriveSubject = (names: NatsNames, consumer: string) => names.wakeSubject(consumer, 'redrive')

/**
 * Hands dead letters that an operator wants redriven to their consumer, one at a time over all replicas. One that is
 * handled is gone with the transaction of its effect; one that fails is a dead letter as before, with the new error.
 */
export function startRedrive({ database, link, names, consumer, log, apply }: RedriveOptions) {
  const waker = createWaker()
  const hints = listenForHints(link, redriveSubject(names, consumer), waker.wake)
  let current: number | undefined

  const next = () =>
    database.db.transaction(async (tx) => {
      current = undefined
      const [letter] = await tx
        .select()
        .from(deadLetters)
        .where(sql`${deadLetters.consumer} = ${consumer} and ${deadLetters.redrivenAt} is not null`)
        .orderBy(asc(deadLetters.redrivenAt), asc(deadLetters.id))
        .limit(1)
        .for('update', { skipLocked: true })
      if (!letter) return false
      current = letter.id
      await apply(letter, tx)
      await tx.delete(deadLetters).where(eq(deadLetters.id, letter.id))
      log.info({ durable: consumer, messageId: letter.messageId }, 'dead letter redriven')
      return true
    })

  const fail = async (id: number, error: unknown) => {
    log.warn(
      { err: error, durable: consumer, deadLetter: id },
      'a dead letter that was redriven has failed again; see its error',
    )
    const deliveries = sql`${deadLetters.deliveries} + 1`
    await database.db
      .update(deadLetters)
      .set({ error: errorText(error), deliveries, redrivenAt: null })
      .where(eq(deadLetters.id, id))
  }

  const run = async () => {
    for (let failures = 0; !waker.closing.aborted; ) {
      try {
        while (!waker.closing.aborted && (await next()));
        failures = 0
        await waker.wait(lookEveryMs)
      } catch (error) {
        if (current !== undefined && !isDependencyAway(error)) await fail(current, error).catch(() => {})
        else if (failures === 0)
          log.warn({ err: error, durable: consumer }, 'dead letters cannot be looked for, still trying')
        const timing = { strategy: 'exponential', baseMs: 100, maxMs: 30_000 } as const
        await delay(retryDelayMs({ attempt: ++failures, ...timing }), waker.closing)
      }
    }
  }
  const running = run()
  return {
    async close() {
      waker.close()
      await Promise.all([hints.close(), running])
    },
  }
}
