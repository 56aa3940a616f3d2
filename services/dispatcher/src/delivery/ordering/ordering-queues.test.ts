import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { Database } from '@opsplane/postgres'
import { createLogger, systemTimers } from '@opsplane/runtime'
import { type OrderingQueues, startOrderingQueues } from './ordering-queues.js'
import { createOrderingRows } from './release-statement.js'

let queues: OrderingQueues | undefined
afterEach(() => queues?.close())

const queue = (key: string) => ({ webhookId: 'wh_1', key })

interface Statements {
  /** Called when queues are to be released by their keys. */
  named?(keys: string[]): void
  /**
   * Called when queues are swept from this key on. Returns the key after which the sweep
   * continues, or `undefined` at its end.
   */
  swept?(from: string): string | undefined
  lowWatermark?(): Promise<string>
  now?(): number
}

/** Ordering queues with statements that release nothing. */
function start({ named, swept, lowWatermark = async () => '', now = () => 0 }: Statements): OrderingQueues {
  const unsafe = async (_statement: string, parameters: [string, string | string[], string | string[]]) => {
    await turn()
    const [, , keys] = parameters
    if (Array.isArray(keys)) named?.(keys)
    const last = Array.isArray(keys) ? undefined : swept?.(keys)
    return [{ released: 0, above: [], last: last === undefined ? null : queue(last) }]
  }
  const sql = { unsafe } as unknown as Database['sql']
  queues = startOrderingQueues({
    deliveries: createOrderingRows(sql),
    timers: { ...systemTimers, now },
    ...{ lowWatermark, due: { wakeIn: () => {} } },
    log: createLogger({ service: 'test', level: 'silent' }),
  })
  return queues
}

describe('ordering queues', () => {
  it('check the progress of the fan-out even while a queue is requested repeatedly', async () => {
    const low = ['1', '9']
    let statements = 0
    await new Promise<void>((released) => {
      const busy = start({
        named(keys) {
          if (keys.includes('quiet')) released()
          // The next delivery of the queue has finished by now.
          if (++statements < 1_000) busy.request([queue('busy')])
        },
        lowWatermark: async () => low.shift() ?? '9',
        now: () => statements * 10,
      })
      busy.request([queue('busy'), { ...queue('quiet'), sequence: '5' }])
    })
    expect(statements).toBeLessThan(1_000)
  })

  /**
   * The start keys of sweeps, until a request made during the last sweep and a second one
   * after it have been released.
   */
  const sweepsOf = (swept: (own: OrderingQueues, from: string) => string | undefined): Promise<string[]> =>
    new Promise((resolve) => {
      const sweeps: string[] = []
      const own = start({
        swept(from) {
          sweeps.push(from)
          const last = swept(own, from)
          if (last === undefined) own.request([queue('x')])
          return last
        },
        named: (keys) => (keys.includes('x') ? own.request([queue('y')]) : resolve(sweeps)),
      })
    })

  it('are swept again if a sweep is requested during a sweep', async () => {
    let sweeps = 0
    const swept = (own: OrderingQueues) => {
      if (++sweeps === 1) own.sweep()
      return undefined
    }
    expect(await sweepsOf(swept)).toEqual(['', ''])
  })

  it('are swept from the beginning if a sweep is requested in the middle of a sweep', async () => {
    const pages = ['m']
    const swept = (own: OrderingQueues, from: string) => {
      if (from === 'm') own.sweep()
      return pages.shift()
    }
    expect(await sweepsOf(swept)).toEqual(['', 'm', ''])
  })
})
