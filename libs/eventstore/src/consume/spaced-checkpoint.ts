import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'

const spacingMs = 1_000

export interface Checkpoint {
  streamSequence: number
  eventId: string
  /** Events since the last one that was written. */
  handled: number
}

/** How far a consumer has come whose effects commit by themselves. */
export interface SpacedCheckpoint {
  advance(streamSequence: number, eventId: string, handled: number): void
  /** Has it written by another statement: what there is to write. What that cannot write is to be given back. */
  take(): Checkpoint | undefined
  giveBack(checkpoint: Checkpoint | undefined): void
  /** Writes what is still to be written. */
  close(): Promise<void>
}

/**
 * Writes the checkpoint at once after a pause, and then at most every second: it tells people how far the consumer is,
 * and nothing is decided by it, so that a kill may lose the last second of it. What cannot be written is written later. `isTaken`: others
 * write it every second, so that it is written here at the end only.
 */
export function spacedCheckpoint(
  sql: Database['sql'],
  { consumer, isTaken, log }: { consumer: string; isTaken: boolean; log: Logger },
): SpacedCheckpoint {
  let unwritten: Checkpoint | undefined
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const take = () => {
    const row = unwritten
    unwritten = undefined
    return row
  }
  const giveBack = (row: Checkpoint | undefined) => {
    if (row) unwritten = { ...(unwritten ?? row), handled: row.handled + (unwritten?.handled ?? 0) }
  }
  const write = async () => {
    const row = take()
    if (!row) return
    try {
      const { streamSequence, eventId, handled } = row
      const values = [consumer, String(streamSequence), eventId, String(handled)]
      await sql.unsafe(advanceStatement, values, { prepare: true })
    } catch (error) {
      giveBack(row)
      log.debug({ err: error, consumer }, 'a checkpoint could not be written')
    }
  }
  const writeNow = () => {
    writing = writing.then(write)
    return writing
  }
  const beat = () => {
    if (unwritten === undefined) {
      clearInterval(timer)
      timer = undefined
    } else void writeNow()
  }

  return {
    take,
    giveBack,
    advance(streamSequence, eventId, handled) {
      unwritten = { streamSequence, eventId, handled: handled + (unwritten?.handled ?? 0) }
      if (timer || isTaken) return
      timer = setInterval(beat, spacingMs)
      void writeNow()
    },
    async close() {
      clearInterval(timer)
      await writeNow()
    },
  }
}

const advanceStatement = `
  insert into consumer_checkpoints as c (consumer, stream_sequence, event_id, handled)
  values ($1, $2::text::bigint, $3, $4::text::bigint)
  on conflict (consumer) do update set stream_sequence = excluded.stream_sequence, event_id = excluded.event_id,
    handled = c.handled + excluded.handled, updated_at = now()`
