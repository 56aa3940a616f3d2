import { parseExact, type SentEvent, StreamedEvent, sentEvents } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Api } from './api.js'
import { follow } from './follow.js'

export interface AuditTailOptions {
  api: Api
  type?: string | undefined
  /** Events from then on; only what arrives from now on when absent. */
  since?: string | undefined
  signal: AbortSignal
  say(line: string): void
  /** Gets each event once, in the order of the log; false: it has had enough. */
  onEvent(event: StreamedEvent): boolean
}

/** Longer than the stream is ever silent. */
const silenceMs = 30_000
/** A replica that drains ends its streams: another one takes them. */
const reconnectMs = 500

/** Follows the stream of events until the signal, or until `onEvent` has had enough. */
export async function tailAudit(options: AuditTailOptions): Promise<void> {
  const { api, type, since, signal, say, onEvent } = options
  const open = async (after: number | undefined): Promise<AsyncGenerator<SentEvent>> => {
    const query = { type: type === undefined ? undefined : [type], afterSeq: after, changed: 'false' }
    const call = { path: '/events/stream', query, signal, attempts: 1, extraTimeMs: silenceMs }
    return sentEvents(await api.lines(call))
  }

  // A platform that is away from the start is an error, not something to wait for.
  let stream: AsyncGenerator<SentEvent> | undefined = await open(undefined)
  const first = await stream.next()
  let after = first.done ? undefined : first.value.id
  if (since !== undefined && after !== undefined) {
    const query = { type, from: since, sort: 'createdAt' }
    for await (const page of api.pages(StreamedEvent, { path: '/audit', query, signal }))
      for (const event of page) if (event.seq <= after && !onEvent(event)) return
  }

  const read = async () => {
    stream ??= await open(after)
    try {
      for await (const { id, event, data } of stream) {
        after = id ?? after
        if (event === 'reset')
          say('Some events were missed while the platform was away: opsplane events list shows them.')
        if (event === 'event' && !onEvent(StreamedEvent.parse(parseExact(data)))) return false
      }
    } finally {
      stream = undefined
    }
    await delay(reconnectMs, signal)
    return true
  }
  await follow(read, { signal, say })
}
