import type { PlatformEvent } from '@opsplane/contracts'
import { type Received, readMessageId, type StreamMessage } from '@opsplane/nats'
import type { Database } from '@opsplane/postgres'
import { eq, sql } from 'drizzle-orm'
import { consumerCheckpoints, deadLetters } from '../tables.js'
import { parseEventOrigin } from './event-origin.js'
import { describeFailure, stripNulBytes } from './failure.js'
import { createRedriveStore, type RedriveStore } from './redrive-store.js'
import type { Transaction } from './transaction.js'

/** The rows a consumer writes in addition to its handler's effect. */
export interface ConsumerTables extends RedriveStore {
  /** Commits everything done through `tx`, or nothing. */
  transaction(work: (tx: Transaction) => Promise<void>): Promise<void>
  /** Records the consumer's progress, in the transaction of the effect. */
  advance(batch: Received<PlatformEvent>[], tx: Transaction): Promise<void>
  deadLetter(message: StreamMessage, error: unknown): Promise<void>
  /** The last recorded position and its stream, if one is recorded. */
  place(): Promise<(StreamPosition & { startedMs: number }) | undefined>
  /** The position up to which it has handled each log without a gap. */
  lowWatermarks(): Promise<ReadonlyMap<string, number>>
  /** Records its position and low watermarks, and its checkpoint if that is not written with the effects. */
  arrive(
    place: StreamPosition,
    lowWatermarks: ReadonlyMap<string, number>,
    checkpoint?: Checkpoint,
  ): Promise<void>
  /** The position up to which a log was handled or read. */
  readUpTo(source: string): Promise<number>
  /** Records the position up to which a log was read, after the effects of those events have committed. */
  progress(progress: LogProgress): Promise<void>
}

/** The sequence up to which everything is acknowledged, in the stream identified by its creation time. */
export interface StreamPosition {
  streamCreated: string
  ackFloor: number
}

/** The consumer's progress for display. */
export interface Checkpoint {
  streamSequence: number
  eventId: string
  /** Number of events since the last written checkpoint. */
  handled: number
}

/** The position up to which a service's log was read. */
export interface LogProgress {
  source: string
  position: number
}

export function createConsumerTables(database: Database, consumer: string): ConsumerTables {
  const { sql: client, db } = database
  return {
    ...createRedriveStore(database, consumer),
    transaction: (work) => db.transaction(work),
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
    async place() {
      const [row] = await db
        .select()
        .from(consumerCheckpoints)
        .where(eq(consumerCheckpoints.consumer, consumer))
      if (!row || row.streamCreated === null || row.ackFloor === null) return undefined
      const { streamCreated, ackFloor, startedAt } = row
      return { streamCreated, ackFloor, startedMs: Date.parse(startedAt) }
    },
    async lowWatermarks() {
      const rows = await client<{ source: string; position: string }[]>`
        select source, position from consumer_floors where consumer = ${consumer}`
      return new Map(rows.map(({ source, position }) => [source, Number(position)]))
    },
    async arrive({ streamCreated, ackFloor }, lowWatermarks, { streamSequence, eventId, handled } = none) {
      const place = [
        streamCreated,
        String(ackFloor),
        [...lowWatermarks.keys()],
        [...lowWatermarks.values()].map(String),
      ]
      const checkpoint = [String(streamSequence), eventId, String(handled)]
      await client.unsafe(arriveStatement, [consumer, ...place, ...checkpoint], { prepare: true })
    },
    async readUpTo(source) {
      const [row] = await client<{ position: string | null }[]>`
        select max(position) as position from consumer_floors
        where consumer in (${consumer}, ${`${consumer}/fill`}) and source = ${source}`
      return Number(row?.position ?? 0)
    },
    async progress({ source, position }) {
      await db.execute(sql`
        insert into consumer_floors (consumer, source, position) values (${`${consumer}/fill`}, ${source}, ${position})
        on conflict (consumer, source) do update set position = excluded.position`)
    },
    async deadLetter(message, error) {
      const { source, position } = parseEventOrigin(message)
      const row = {
        consumer,
        messageId: stripNulBytes(readMessageId(message)),
        subject: message.subject,
        streamSequence: message.after ?? message.seq,
        payload: stripNulBytes(message.string()),
        source: source && stripNulBytes(source),
        sourcePosition: position,
        ...describeFailure(error),
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

const none: Checkpoint = { streamSequence: 0, eventId: '', handled: 0 }

/** Deletes the progress of the finished backfill. */
const arriveStatement = `
  with ended as (delete from consumer_floors where consumer = $1 || '/fill'),
    floors as (
      insert into consumer_floors as f (consumer, source, position)
      select $1, source, position from unnest($4::text[], $5::text[]::bigint[]) as given(source, position)
      on conflict (consumer, source) do update set position = excluded.position where f.position < excluded.position)
  insert into consumer_checkpoints as c (consumer, stream_sequence, event_id, handled, stream_created, ack_floor)
  values ($1, $6::text::bigint, $7, $8::text::bigint, $2, $3::text::bigint)
  on conflict (consumer) do update set stream_created = excluded.stream_created, ack_floor = excluded.ack_floor,
    handled = c.handled + excluded.handled,
    stream_sequence = case when excluded.handled > 0 then excluded.stream_sequence else c.stream_sequence end,
    event_id = case when excluded.handled > 0 then excluded.event_id else c.event_id end,
    updated_at = case when excluded.handled > 0 then now() else c.updated_at end`
