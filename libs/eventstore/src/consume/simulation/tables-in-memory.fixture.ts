import type { PlatformEvent } from '@opsplane/contracts'
import type { ConsumerTables, StreamPosition } from '../consumer-tables.js'
import { parseEventOrigin } from '../event-origin.js'
import { describeFailure } from '../failure.js'
import type { DeadLetter, MarkedLetter } from '../redrive-store.js'
import type { Transaction } from '../transaction.js'

/** Changes the rows atomically. */
type Commit = <T>(act: () => T) => Promise<T>

/** The writes a transaction applies when it commits. */
class PendingWrites {
  readonly writes: (() => void)[] = []
}

/** Adds a write that is applied when the transaction commits. */
export function write(tx: Transaction, act: () => void): void {
  ;(tx as unknown as PendingWrites).writes.push(act)
}

/** The rows of one consumer, shared by its replicas. */
export class ConsumerRows {
  place: (StreamPosition & { startedMs: number }) | undefined
  checkpoint = { streamSequence: 0, eventId: '', handled: 0 }
  readonly lowWatermarks = new Map<string, number>()
  readonly filled = new Map<string, number>()
  readonly letters = new Map<number, DeadLetter>()
  /** Letters that a transaction has locked. */
  readonly locked = new Set<number>()
  serial = 0

  letterOf(messageId: string): DeadLetter | undefined {
    return [...this.letters.values()].find((letter) => letter.messageId === messageId)
  }
}

/**
 * The consumer's tables in memory, for the consumer simulation. They pass the same test cases as Postgres
 * (`consumer-tables.int.test.ts`).
 */
export function consumerTablesInMemory(
  rows: ConsumerRows,
  consumer: string,
  commit: Commit,
  nowMs: () => number,
): ConsumerTables {
  const transaction = async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const tx = new PendingWrites()
    await commit(() => {})
    const result = await work(tx as unknown as Transaction)
    await commit(() => {
      for (const act of tx.writes) act()
    })
    return result
  }
  const instant = () => new Date(nowMs()).toISOString()
  return {
    transaction,
    async advance(batch, tx) {
      const last = batch.at(-1)
      if (!last) return
      await commit(() => {})
      const { seq } = last.message
      write(tx, () => {
        rows.checkpoint = {
          ...{ streamSequence: seq, eventId: last.event.id },
          handled: rows.checkpoint.handled + batch.length,
        }
      })
    },
    deadLetter: (message, error) =>
      commit(() => {
        const { source, position } = parseEventOrigin(message)
        const messageId = message.header('Nats-Msg-Id') ?? `${message.stream}/${message.seq}`
        const id = rows.letterOf(messageId)?.id ?? ++rows.serial
        rows.letters.set(id, {
          ...{ id, consumer, messageId, source, createdAt: instant(), redrivenAt: null },
          subject: message.subject,
          streamSequence: message.after ?? message.seq,
          payload: message.string(),
          sourcePosition: position,
          ...describeFailure(error),
          deliveries: message.deliveries,
        })
      }),
    place: () => commit(() => rows.place),
    lowWatermarks: () => commit(() => new Map(rows.lowWatermarks)),
    arrive: (place, lowWatermarks, checkpoint) =>
      commit(() => {
        rows.filled.clear()
        for (const [source, position] of lowWatermarks)
          rows.lowWatermarks.set(source, Math.max(position, rows.lowWatermarks.get(source) ?? 0))
        rows.place = { ...place, startedMs: rows.place?.startedMs ?? nowMs() }
        if (checkpoint && checkpoint.handled > 0)
          rows.checkpoint = { ...checkpoint, handled: rows.checkpoint.handled + checkpoint.handled }
      }),
    readUpTo: (source) =>
      commit(() => Math.max(rows.lowWatermarks.get(source) ?? 0, rows.filled.get(source) ?? 0)),
    progress: ({ source, position }) => commit(() => void rows.filled.set(source, position)),
    nextMarked: (after, redo) => nextMarked(rows, transaction, after, redo),
  }
}

async function nextMarked(
  rows: ConsumerRows,
  transaction: <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>,
  after: number,
  redo: (marked: MarkedLetter) => Promise<void>,
): Promise<number | undefined> {
  let taken: number | undefined
  try {
    return await transaction(async (tx) => {
      const letter = [...rows.letters.values()].find(
        ({ id, redrivenAt }) => id > after && redrivenAt !== null && !rows.locked.has(id),
      )
      if (!letter) return undefined
      const { id } = letter
      taken = id
      rows.locked.add(id)
      await redo({
        letter,
        async effect(apply) {
          const own = new PendingWrites()
          await apply(own as unknown as Transaction)
          for (const act of own.writes) write(tx, act)
        },
        end: async () => write(tx, () => void rows.letters.delete(id)),
        failed: async (error) =>
          write(tx, () => {
            const deliveries = letter.deliveries + 1
            rows.letters.set(id, { ...letter, deliveries, ...describeFailure(error), redrivenAt: null })
          }),
      })
      return id
    })
  } finally {
    if (taken !== undefined) rows.locked.delete(taken)
  }
}

/** The state a consumer stores: which events it has handled, and the newest state of each aggregate. */
export class Effects {
  readonly handled = new Map<string, number>()
  readonly versions = new Map<string, number>()

  /** Applying an event twice changes nothing, unless its effect is not keyed by its id. */
  apply({ id, resource, version }: PlatformEvent, isKeyed = true): void {
    const times = this.handled.get(id) ?? 0
    if (times === 0 || !isKeyed) this.handled.set(id, times + 1)
    this.versions.set(resource.id, Math.max(version, this.versions.get(resource.id) ?? 0))
  }
}
