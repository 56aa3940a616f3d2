export { readLines } from './lines.js'

/** One server-sent event. One with an id alone, or a comment, has no `event`. */
export interface SentEvent {
  id: number | undefined
  event: string | undefined
  data: string
  /** After how long the sender wants to be asked again once the stream ends. */
  retryMs: number | undefined
}

/** Server-sent events of the lines of an answer, as https://html.spec.whatwg.org has them. */
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
