import type { Principal } from '@opsplane/contracts'
import type { TestService } from '@opsplane/testing'
import { waitFor } from '@opsplane/testing'

export interface SentEvent {
  id: number
  event: string
  data: Record<string, unknown>
}

export interface OpenStream {
  status: number
  headers: Headers
  /** All events received so far, except `changed`. */
  events: SentEvent[]
  /** The `changed` messages received so far. */
  changed: SentEvent[]
  /** The last `id` received, also from messages that are not events. */
  lastId(): number
  /** Resolves with the events once there are at least `count`. */
  until(count: number): Promise<SentEvent[]>
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>
  close(): void
}

/** Reads a stream with fetch, as a browser does. */
export async function openStream(
  service: Pick<TestService, 'url' | 'headers'>,
  principal: Principal,
  { query = '', lastEventId }: { query?: string; lastEventId?: number } = {},
): Promise<OpenStream> {
  const closing = new AbortController()
  const response = await fetch(`${service.url}/events/stream${query}`, {
    headers: {
      ...(await service.headers(principal)),
      ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
    },
    signal: closing.signal,
  })
  const events: SentEvent[] = []
  const changed: SentEvent[] = []
  let lastId = 0
  const read = async () => {
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(
          block.split('\n').map((line): [string, string] => {
            const at = line.indexOf(': ')
            return [line.slice(0, at), line.slice(at + 2)]
          }),
        )
        if (fields.has('id')) lastId = Number(fields.get('id'))
        const [event, data] = [fields.get('event'), fields.get('data')]
        if (event !== undefined && data !== undefined)
          (event === 'changed' ? changed : events).push({ id: lastId, event, data: JSON.parse(data) })
      }
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    events,
    changed,
    lastId: () => lastId,
    until: (count) => waitFor(() => events.length >= count && events),
    ended: read().catch(() => undefined),
    close: () => closing.abort(),
  }
}
