import type { Database } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'

const spacingMs = 1_000

/** How far a consumer has come whose effects commit by themselves. */
export interface SpacedCheckpoint {
  advance(streamSequence: number, eventId: string, handled: number): void
  /** Writes what is still to be written. */
  close(): Promise<void>
}

/**
 * Writes the checkpoint at once after a pause, and then at most every second: it tells people how far the consumer is,
 * and nothing is decided by it, so that a kill may lose the last second of it. What cannot be written is written later.
 */
export function spacedCheckpoint(sql: Database['sql'], consumer: string, log: Logger): SpacedCheckpoint {
  let unwritten: { streamSequence: number; eventId: string; handled: number } | undefined
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const newest = () => unwritten
  const write = async () => {
    const row = unwritten
    if (!row) return
    unwritten = undefined
    try {
      const { streamSequence, eventId, handled } = row
      const values = [consumer, String(streamSequence), eventId, String(handled)]
      await sql.unsafe(advanceStatement, values, { prepare: true })
    } catch (error) {
      unwritten = { ...(newest() ?? row), handled: row.handled + (newest()?.handled ?? 0) }
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
    advance(streamSequence, eventId, handled) {
      unwritten = { streamSequence, eventId, handled: handled + (unwritten?.handled ?? 0) }
      if (timer) return
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
