import { parseExact, type SentEvent, StreamedEvent, sentEvents } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Api } from './api.js'
import { follow } from './follow.js'

export interface AuditTailOptions {
  api: Api
  type?: string | undefined
  /** Starts with events from this instant; if absent, only new events are reported. */
  since?: string | undefined
  signal: AbortSignal
  say(line: string): void
  /** Called once for each event, in log order; returns false to stop. */
  onEvent(event: StreamedEvent): boolean
}

/** Longer than the interval between two messages of the stream. */
const silenceMs = 30_000
/** A draining replica ends its streams; another replica accepts the new connection. */
const reconnectMs = 500

/** Follows the event stream until `signal` aborts or `onEvent` returns false. */
export async function tailAudit(options: AuditTailOptions): Promise<void> {
  const { api, type, since, signal, say, onEvent } = options
  const open = async (after: number | undefined): Promise<AsyncGenerator<SentEvent>> => {
    const query = { type: type === undefined ? undefined : [type], afterSeq: after, changed: 'false' }
    const call = { path: '/events/stream', query, signal, attempts: 1, extraTimeMs: silenceMs }
    return sentEvents(await api.lines(call))
  }

  // If the platform is unreachable at the start, that is an error; the command does not wait for it.
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
