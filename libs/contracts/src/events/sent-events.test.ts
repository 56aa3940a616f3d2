import { describe, expect, it } from '@jest/globals'
import { type SentEvent, sentEvents } from './sent-events.js'

async function read(...batches: string[][]): Promise<SentEvent[]> {
  const found: SentEvent[] = []
  const parts = (async function* () {
    yield* batches
  })()
  for await (const event of sentEvents(parts)) found.push(event)
  return found
}

describe('server-sent events', () => {
  it('are parsed from lines, however the lines are split into batches', async () => {
    const lines = [
      'retry: 1000',
      'id: 3',
      'event: ready',
      'data: {}',
      '',
      'id: 4',
      'event: event',
      'data: {"a": ":"}',
      '',
    ]
    const events = [
      { id: 3, event: 'ready', data: '{}', retryMs: 1_000 },
      { id: 4, event: 'event', data: '{"a": ":"}', retryMs: undefined },
    ]
    expect(await read(lines)).toEqual(events)
    expect(await read(...lines.map((line) => [line]))).toEqual(events)
  })

  it('without a name are returned as comments and ids, and an unfinished event is omitted', async () => {
    expect(await read([': ', '', 'id: 9', '', 'event: event', 'data: {}'])).toEqual([
      { id: undefined, event: undefined, data: '', retryMs: undefined },
      { id: 9, event: undefined, data: '', retryMs: undefined },
    ])
  })
})
