import { describe, expect, it } from '@jest/globals'
import { newId, type PlatformEvent } from '@opsplane/contracts'
import type { Batch } from '../events/batch.js'
import type { DeliveryJob, StartedAttempt } from '../job.js'
import type { DeliveryDraft } from '../match/delivery-drafts.js'
import { createFirstAttempts } from './first-attempts.js'

/** First attempts with a clock that only advances with `pass`. */
function open() {
  const timers = new Set<{ at: number; callback: () => void }>()
  let elapsedMs = 0
  const first = createFirstAttempts({
    now: () => elapsedMs,
    nowMs: () => Date.now(),
    after(ms, callback) {
      const timer = { at: elapsedMs + ms, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    leaseMs: 60_000,
    queues: { reserve: () => true, release: () => {}, submit: () => {} },
    watch: { left: () => {} },
  })
  return {
    first,
    /** Starts the first attempt of a new event. */
    start(): StartedAttempt {
      const event = { id: newId('event') } as PlatformEvent
      const draft = {
        incoming: { event, redelivered: false },
        row: { id: event.id, waits: false },
        job: { target: { rateLimitPerSecond: null, status: 'active', timeoutMs: 1_000 } } as DeliveryJob,
      } as DeliveryDraft
      const batch = { incoming: [draft.incoming], webhooksOf: () => ({ checkedAt: elapsedMs }) }
      first.start([draft], batch as unknown as Batch)
      if (!draft.started) throw new Error('the attempt was not started')
      return draft.started
    },
    pass(ms: number) {
      elapsedMs += ms
      for (const timer of [...timers]) if (timer.at <= elapsedMs && timers.delete(timer)) timer.callback()
    },
    timers: () => timers.size,
  }
}

/** The value it was settled with, or `waits`. */
const outcome = ({ settled }: StartedAttempt) => Promise.race([settled, Promise.resolve('waits')])

describe('first attempts whose rows this replica never commits', () => {
  it('are discarded after five minutes each', async () => {
    const { start, pass, timers } = open()
    const old = start()
    pass(200_000)
    const young = start()
    pass(100_001)
    expect(await outcome(old)).toBe(false)
    expect(await outcome(young)).toBe('waits')
    pass(200_000)
    expect(await outcome(young)).toBe(false)
    expect(timers()).toBe(0)
  })

  it('are discarded on close, which leaves no timer', async () => {
    const { first, start, timers } = open()
    const started = [start(), start()]
    first.close()
    expect(await Promise.all(started.map(outcome))).toEqual([false, false])
    expect(timers()).toBe(0)
  })
})
