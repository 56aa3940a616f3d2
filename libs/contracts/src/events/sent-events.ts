export { readLines } from './lines.js'

/** One server-sent event. A message with only an id, or a comment, has no `event`. */
export interface SentEvent {
  id: number | undefined
  event: string | undefined
  data: string
  /** Delay the sender requests before a reconnect after the stream ends. */
  retryMs: number | undefined
}

/** Parses the lines of a response as server-sent events, as specified in https://html.spec.whatwg.org. */
export async function* sentEvents(batches: AsyncIterable<readonly string[]>): AsyncGenerator<SentEvent> {
  let fields: SentEvent = none()
  for await (const lines of batches) {
    for (const line of lines) {
      if (line === '') {
        yield fields
        fields = none()
        continue
      }
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
      if (name === 'id') fields.id = Number(value)
      if (name === 'retry') fields.retryMs = Number(value)
      if (name === 'event') fields.event = value
      if (name === 'data') fields.data += value
    }
  }
}

const none = (): SentEvent => ({ id: undefined, event: undefined, data: '', retryMs: undefined })
