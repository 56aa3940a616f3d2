import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { databaseClock } from '../../fixture/database-clock.js'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

/** Constant until a test changes it. */
let nowMs = Date.now()
const clock = { now: () => new Date(nowMs).toISOString() }
async function setTo(ms: number) {
  nowMs = ms
  await databaseClock(fixture.service.sql).freeze(ms)
}

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher({
    overrides: { clock },
  })
  await setTo(nowMs)
})
afterAll(() => fixture?.stop())

/** Creates a delivery to an endpoint that always fails, and waits for its first attempt. */
async function failing(
  name: string,
  settings: Record<string, unknown>,
  headers: Record<string, string> = {},
) {
  const webhook = await fixture.webhook(name, settings, () => ({ status: 503, headers }))
  await fixture.publish({ type: `${name}.created`, createdAt: clock.now() })
  const seen = createDeliveryReader(fixture, webhook.id)
  const [delivery] = await seen.having('retrying', 1)
  const id = delivery?.id ?? ''
  return {
    seen,
    id,
    attempted: (attempts: number) =>
      waitFor(
        async () => {
          const detail = await seen.detail(id)
          return detail.attempts === attempts && detail
        },
        { message: `attempt ${attempts} of ${name}` },
      ),
  }
}

/**
 * Creates a delivery whose retries are due every second: its next attempt shows that the
 * poller has looked for due deliveries.
 */
async function watchLooks(name: string) {
  const looks = await failing(name, { retries: 20, retry_schedule: [1] })
  let attempts = 1
  return async () => void (await looks.attempted(++attempts))
}

const dayMs = 86_400_000

describe('the schedule of retries', () => {
  it.each<[string, Record<string, unknown>, Record<string, string>, number[]]>([
    ['exponential', { retries: 4 }, {}, [2, 4, 8, 16]],
    ['capped', { retries: 4, retry_max_delay_ms: 5_000 }, {}, [2, 4, 5, 5]],
    ['fixed', { retries: 3, retry_strategy: 'fixed' }, {}, [5, 5, 5]],
    ['scheduled', { retries: 4, retry_schedule: [30, 120, 600, 1_800] }, {}, [30, 120, 600, 1_800]],
    ['daily', { retries: 2, retry_schedule: [86_400] }, {}, [86_400, 86_400]],
    ['asked', { retries: 2, retry_max_delay_ms: dayMs }, { 'retry-after': '90' }, [90, 90]],
  ])('%s: each attempt starts when it is due, and not before', async (name, settings, headers, waits) => {
    const looked = await watchLooks(`looks_${name}`)
    const { seen, id, attempted } = await failing(name, settings, headers)
    const due: number[] = []
    for (const [retry, seconds] of waits.entries()) {
      const dueMs = nowMs + seconds * 1_000
      due.push(dueMs)
      expect((await attempted(retry + 1)).nextAttemptAt).toBe(new Date(dueMs).toISOString())
      await setTo(dueMs - 1)
      await looked()
      await setTo(dueMs + 250)
      await attempted(retry + 2)
    }
    const { status, attemptLog } = await seen.detail(id)
    expect(status).toBe('failed')
    const late = attemptLog.slice(1).map(({ startedAt }, index) => Date.parse(startedAt) - (due[index] ?? 0))
    expect(late).toEqual(waits.map(() => 250))
  })

  it('continues after a clock jump over several due times, one attempt at a time', async () => {
    const { attempted } = await failing('jump', { retries: 2, retry_schedule: [60] })
    await setTo(nowMs + 7 * dayMs)
    const { lastAttemptAt, nextAttemptAt } = await attempted(2)
    expect(lastAttemptAt).toBe(clock.now())
    expect(nextAttemptAt).toBe(new Date(nowMs + 60_000).toISOString())
  })
})
