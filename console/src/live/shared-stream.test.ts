import { beforeEach, describe, expect, test } from '@jest/globals'
import type { SentEvent } from '@opsplane/contracts/sent-events'
import type { StreamState } from './reader.js'
import { type Channel, shareStream, type TabMessage } from './shared-stream.js'

/** A simulated browser: its lock moves from tab to tab, and a message of one tab reaches all others. */
function startBrowser() {
  const channels = new Set<{ onMessage?: (message: TabMessage) => void }>()
  const queue: { work: () => Promise<void>; done: () => void }[] = []
  let isHeld = false
  const grant = () => {
    const next = isHeld ? undefined : queue.shift()
    if (next === undefined) return
    isHeld = true
    void next.work().finally(() => {
      isHeld = false
      next.done()
      grant()
    })
  }
  const openChannel = (): Channel => {
    const own: { onMessage?: (message: TabMessage) => void } = {}
    channels.add(own)
    return {
      post: (message) => {
        for (const each of channels) if (each !== own) each.onMessage?.(message)
      },
      listen: (onMessage) => {
        own.onMessage = onMessage
      },
      close: () => channels.delete(own),
    }
  }
  const lead = (work: () => Promise<void>, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const turn = { work, done: resolve }
      queue.push(turn)
      signal.addEventListener('abort', () => {
        const at = queue.indexOf(turn)
        if (at === -1) return
        queue.splice(at, 1)
        reject(signal.reason)
      })
      grant()
    })
  return { openChannel, lead, channels }
}

interface Reading {
  after: number | undefined
  send(id: number): void
  say(state: StreamState): void
}

let browser: ReturnType<typeof startBrowser>
/** All streams opened so far, including closed ones. */
let readings: Reading[]
let open: Set<Reading>
beforeEach(() => {
  browser = startBrowser()
  readings = []
  open = new Set()
})

function openTab() {
  const got: (number | undefined)[] = []
  const states: StreamState[] = []
  const leave = shareStream({
    lead: browser.lead,
    channel: browser.openChannel(),
    onMessage: ({ id }) => got.push(id),
    onState: (state) => states.push(state),
    read: ({ after, onMessage, onState, signal }) =>
      new Promise((resolve) => {
        const message = (id: number): SentEvent => ({ id, event: 'event', data: '{}', retryMs: undefined })
        const reading = { after, send: (id: number) => onMessage(message(id)), say: onState }
        readings.push(reading)
        open.add(reading)
        signal.addEventListener('abort', () => {
          open.delete(reading)
          resolve()
        })
      }),
  })
  return { got, states, leave }
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('the tabs of a browser', () => {
  test('share one stream, and all receive every message', async () => {
    const [first, second, third] = [openTab(), openTab(), openTab()]
    readings[0]?.send(1)
    readings[0]?.send(2)
    expect(open.size).toBe(1)
    for (const { got } of [first, second, third]) expect(got).toEqual([1, 2])
  })

  test('resume after the last message when the reading tab is closed', async () => {
    const [first, second] = [openTab(), openTab()]
    readings[0]?.send(7)
    first.leave()
    await turn()
    expect([readings.length, open.size, readings[1]?.after]).toEqual([2, 1, 7])
    readings[1]?.send(8)
    expect([first.got, second.got]).toEqual([[7], [7, 8]])
  })

  test('can be closed while they wait to become the reading tab', async () => {
    const [first, second, third] = [openTab(), openTab(), openTab()]
    second.leave()
    await turn()
    first.leave()
    await turn()
    readings.at(-1)?.send(3)
    expect([open.size, second.got, third.got]).toEqual([1, [], [3]])
    third.leave()
    await turn()
    expect([open.size, browser.channels.size]).toEqual([0, 0])
  })

  test('share the state of the stream, including tabs that are opened later', async () => {
    const first = openTab()
    readings[0]?.say('connecting')
    readings[0]?.say('live')
    const second = openTab()
    expect(second.states).toEqual(['live'])
    readings[0]?.say('reconnecting')
    expect([first.states, second.states]).toEqual([
      ['connecting', 'live', 'reconnecting'],
      ['live', 'reconnecting'],
    ])
  })
})
