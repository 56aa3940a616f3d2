import type { PlatformEvent } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import type { Message, Transaction } from './consume.js'
import { consumerCheckpoints, deadLetters } from './tables.js'

/** What a consumer writes beside its handler's effect. */
export interface ConsumerTables {
  /** Records, in the effect's transaction, how far the consumer has come. */
  advance(tx: Transaction, batch: { message: Message; event: PlatformEvent }[]): Promise<void>
  deadLetter(message: Message, error: unknown): Promise<void>
}

export function createConsumerTables(db: Drizzle, consumer: string): ConsumerTables {
  return {
    async advance(tx, batch) {
      const last = batch.at(-1)
      if (!last) return
      const row = {
        consumer,
        streamSequence: last.message.seq,
        eventId: last.event.id,
        handled: batch.length,
      }
      await tx
        .insert(consumerCheckpoints)
        .values(row)
        .onConflictDoUpdate({
          target: consumerCheckpoints.consumer,
          set: {
            streamSequence: row.streamSequence,
            eventId: row.eventId,
            handled: sql`${consumerCheckpoints.handled} + ${row.handled}`,
            updatedAt: sql`now()`,
          },
        })
    },
    async deadLetter(message, error) {
      const row = {
        consumer,
        messageId: message.headers?.get('Nats-Msg-Id') || `${message.info.stream}/${message.seq}`,
        subject: message.subject,
        streamSequence: message.seq,
        // Postgres text holds no NUL.
        payload: message.string().replaceAll('\0', '�'),
        error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
        deliveries: message.info.deliveryCount,
      }
      await db
        .insert(deadLetters)
        .values(row)
        .onConflictDoUpdate({
          target: [deadLetters.consumer, deadLetters.messageId],
          set: { error: row.error, deliveries: row.deliveries, streamSequence: row.streamSequence },
        })
    },
  }
}
