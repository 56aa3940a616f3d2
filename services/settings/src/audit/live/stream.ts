import type { StreamClient } from '@opsplane/http'
import type { Changes } from './changes.js'
import { createFrameQueue } from './frame-queue.js'
import type { Reader } from './live-event.js'
import type { AuditTails } from './tails.js'

export interface StreamOptions extends Reader {
  client: StreamClient
  workspaceId: string
  /** The last `seq` the client has read; `undefined` to receive only new events. */
  after: number | undefined
  /**
   * Whether row rules hide records from the reader, so that events about records are omitted. Throws if that cannot be
   * determined.
   */
  hidesRecords(): Promise<boolean>
}

/** Sources of the streams. */
export interface Live {
  tails: AuditTails
  changes: Changes
}

/** Maximum number of missed events that are sent. A page that missed more reloads instead. */
export const maxMissed = 10_000
/** Reconnect delay of clients in milliseconds, randomly spread so that they do not all reconnect at the same time. */
const [retryMs, retrySpreadMs] = [1_000, 4_000]

/**
 * Server-sent events of a log: first `ready`, or `reset` if too many events were missed or `after` is beyond the end
 * of the log. Then each event exactly once and in order, `changed` messages in between, and a comment every 15 s.
 * Ends when the client disconnects or the process drains.
 */
export async function* streamEvents(
  { tails, changes }: Live,
  options: StreamOptions,
): AsyncGenerator<string> {
  const { workspaceId, environment, after, client } = options
  const hasEnded = () => client.hasLeft() || tails.isEnding()
  const queue = createFrameQueue({ ...options, cut: client.cut })
  const { seq: end, stop } = await tails.follow(workspaceId, queue.add)
  const stopBeats = tails.onBeat(queue.wake)
  client.onLeave(queue.wake)
  const stopChanges = changes.follow({ workspaceId, environment }, queue.addChanged)
  try {
    const isTooOld = after !== undefined && (end - after > maxMissed || after > end)
    let sent = isTooOld ? end : (after ?? end)
    const retry = retryMs + Math.floor(Math.random() * retrySpreadMs)
    yield* queue.send(`retry: ${retry}\nid: ${sent}\nevent: ${isTooOld ? 'reset' : 'ready'}\ndata: {}\n\n`)
    let upTo = end
    for (;;) {
      if (upTo > sent) {
        for await (const events of tails.between(workspaceId, sent, upTo)) {
          if (hasEnded()) return
          const text = await queue.textOf(events)
          if (text !== '') yield* queue.send(text)
        }
        // A client can also resume from the position of an event that this reader does not receive.
        yield* queue.send(`id: ${upTo}\n\n`)
        sent = upTo
      }
      // Checked again before waiting: an end that happened in the meantime would not wake this reader.
      if (!hasEnded()) await queue.filled()
      if (hasEnded()) return
      const batch = queue.take()
      if (batch.changed !== '') yield* queue.send(batch.changed)
      upTo = Math.max(upTo, batch.seq)
      if (batch.events === undefined) continue
      const text = await queue.textOf(batch.events)
      const isPlaceShown = text !== '' && batch.events.at(-1)?.seq === upTo
      const place = upTo > sent && !isPlaceShown ? `id: ${upTo}\n\n` : ''
      if (text + place !== '' || batch.changed === '') yield* queue.send(text + place || ': \n\n')
      sent = upTo
    }
  } finally {
    stop()
    stopBeats()
    stopChanges()
  }
}
