import { describe, expect, test } from '@jest/globals'
import { readStream, type StreamState, silenceMs } from './reader.js'

/** Behaviour of a connection: sends these texts and ends, responds with a status, or never responds. */
type Connection = readonly string[] | number | 'silent' | 'unreachable'

/** Reads from the connections one after another with a simulated clock; stops after the last connection. */
async function readOver(connections: readonly Connection[], after?: number) {
  const end = new AbortController()
  const [asked, got, states, waits]: [unknown[], unknown[], StreamState[], number[]] = [[], [], [], []]
  const rest = [...connections]
  let connection: Connection | undefined
  await readStream({
    after,
    signal: end.signal,
    random: () => 1,
    onMessage: ({ id, event }) => got.push(event ?? id ?? 'heartbeat'),
    onState: (state) => states.at(-1) !== state && states.push(state),
    open: async (from, signal) => {
      asked.push(from)
      connection = rest.shift()
      if (connection !== undefined) return answer(connection, signal)
      end.abort()
      throw new Error('That was the last one.')
    },
    // No time passes; a wait only ends if nothing arrives.
    wait: async (ms, signal) => {
      if (ms !== silenceMs) waits.push(ms)
      else if (connection !== 'silent')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  return { asked, got, states, waits }
}

function answer(connection: Connection, signal: AbortSignal): Response | Promise<Response> {
  if (connection === 'unreachable') throw new TypeError('Failed to fetch')
  if (connection === 'silent')
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  if (typeof connection === 'number') return new Response('', { status: connection })
  return new Response(connection.join(''))
}

const ready = (seq: number) => `retry: 2000\nid: ${seq}\nevent: ready\ndata: {}\n\n`
const event = (seq: number) => `id: ${seq}\nevent: event\ndata: {}\n\n`

describe('the reader of the event stream', () => {
  test('reconnects after the last message it has read when a connection ends', async () => {
    const { asked, got, states } = await readOver([
      [ready(4), event(5), ': \n\n', 'id: 7\n\n'],
      [ready(7), event(8), 'id: 9\nevent: event\nda'],
    ])
    expect(asked).toEqual([undefined, 7, 8])
    expect(got).toEqual(['ready', 'event', 'heartbeat', 7, 'ready', 'event'])
    expect(states).toEqual(['connecting', 'live', 'reconnecting', 'live', 'reconnecting'])
  })

  test('resumes after the position at which another reader stopped', async () => {
    expect((await readOver([[ready(12)]], 12)).asked).toEqual([12, 12])
  })

  test('waits for the requested delay, and doubles it after each failure up to 30 s', async () => {
    const away: Connection[] = ['unreachable', 502, 503, 'unreachable', 500, 429]
    const { waits } = await readOver([[ready(1)], ...away, [ready(1)]])
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 2_000])
  })

  test.each([401, 403, 404])('ends when the connection is refused with %s', async (status) => {
    const { asked, states } = await readOver([status, [ready(1)]])
    expect([asked.length, states]).toEqual([1, ['connecting', 'ended']])
  })

  test('reconnects when a connection stays silent', async () => {
    const { asked, states } = await readOver(['silent', [ready(3)]])
    expect([asked, states]).toEqual([
      [undefined, undefined, 3],
      ['connecting', 'reconnecting', 'live', 'reconnecting'],
    ])
  })
})
