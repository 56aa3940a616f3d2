import type { StreamClient } from '@opsplane/http'
import type { Changes } from './changes.js'
import { createFrameQueue } from './frame-queue.js'
import type { Reader } from './live-event.js'
import type { AuditTails } from './tails.js'

export interface StreamOptions extends Reader {
  client: StreamClient
  workspaceId: string
  /** The last `seq` that was read; undefined for what comes from now on. */
  after: number | undefined
  /** Whether row rules hide records from the reader, so that events about records are left out. Throws where that is not known. */
  hidesRecords(): Promise<boolean>
}

/** What streams are made of. */
export interface Live {
  tails: AuditTails
  changes: Changes
}

/** Further back a page is loaded again rather than brought up to date. */
export const maxMissed = 10_000
/** When a client comes back, so that not all do at once. */
const [retryMs, retrySpreadMs] = [1_000, 4_000]

/**
 * Server-sent events of a log: at first `ready`, or `reset` where too much was missed, then each event once and in order, and a comment
 * every 15 s; between them what else has changed. Ends when the client leaves or the process drains.
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
        // The place of what is not for this reader is one to go on from as well.
        yield* queue.send(`id: ${upTo}\n\n`)
        sent = upTo
      }
      // An end that came before this is waited for is one that nothing wakes from.
      if (!hasEnded()) await queue.filled()
      if (hasEnded()) return
      const taken = queue.take()
      if (taken.changed !== '') yield* queue.send(taken.changed)
      upTo = Math.max(upTo, taken.seq)
      if (taken.events === undefined) continue
      const text = await queue.textOf(taken.events)
      const isPlaceShown = text !== '' && taken.events.at(-1)?.seq === upTo
      const place = upTo > sent && !isPlaceShown ? `id: ${upTo}\n\n` : ''
      if (text + place !== '' || taken.changed === '') yield* queue.send(text + place || ': \n\n')
      sent = upTo
    }
  } finally {
    stop()
    stopBeats()
    stopChanges()
  }
}
