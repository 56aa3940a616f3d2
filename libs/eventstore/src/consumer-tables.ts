import type { PlatformEvent } from '@opsplane/contracts'
import type { Received, StreamMessage } from '@opsplane/nats'
import type { Database } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import type { Transaction } from './consume.js'
import { originOf } from './event-origin.js'
import { errorText } from './redrive.js'
import { consumerCheckpoints, deadLetters } from './tables.js'

/** What a consumer writes beside its handler's effect. */
export interface ConsumerTables {
  /** Records how far the consumer has come, in the effect's transaction. */
  advance(batch: Received<PlatformEvent>[], tx: Transaction): Promise<void>
  deadLetter(message: StreamMessage, error: unknown): Promise<void>
}

export function createConsumerTables({ db }: Database, consumer: string): ConsumerTables {
  return {
    async advance(batch, tx) {
      const last = batch.at(-1)
      if (!last) return
      const { seq } = last.message
      const [eventId, handled] = [last.event.id, batch.length]
      const row = { consumer, streamSequence: seq, eventId, handled }
      const set = {
        streamSequence: seq,
        eventId,
        handled: sql`${consumerCheckpoints.handled} + ${handled}`,
        updatedAt: sql`now()`,
      }
      const target = consumerCheckpoints.consumer
      await tx.insert(consumerCheckpoints).values(row).onConflictDoUpdate({ target, set })
    },
    async deadLetter(message, error) {
      const { source, position } = originOf(message)
      const row = {
        consumer,
        messageId: message.header('Nats-Msg-Id') ?? `${message.stream}/${message.seq}`,
        subject: message.subject,
        streamSequence: message.seq,
        // Postgres text holds no NUL.
        payload: message.string().replaceAll('\0', '�'),
        source,
        sourcePosition: position,
        error: errorText(error),
        deliveries: message.deliveries,
      }
      await db
        .insert(deadLetters)
        .values(row)
        .onConflictDoUpdate({
          target: [deadLetters.consumer, deadLetters.messageId],
          set: { ...row, redrivenAt: null },
        })
    },
  }
}
