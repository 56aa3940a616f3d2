import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { GrantedBudgets } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { type Settings, startSettings } from '../settings.fixture.js'
import { spendRates } from './rate-buckets.js'

let settings: Settings
let database: Database

beforeAll(async () => {
  settings = await startSettings()
  database = connect(settings.service.adminUrl, { schema: 'settings', max: 8, applicationName: 'rates' })
})
beforeEach(() => settings.service.sql`delete from rate_buckets`)
afterAll(async () => {
  await database?.close()
  await settings?.stop()
})

/** A bucket of 100 that refills far more slowly than this test runs. */
const slow = { key: 'default tok_1', seconds: 0, burst: 100, perSecond: 1e-6 }
const spend = async (...spends: { key?: string; spent: number; seconds?: number; perSecond?: number }[]) => {
  const { tokens } = await spendRates(database, { spends: spends.map((each) => ({ ...slow, ...each })) })
  return tokens.map((left) => Math.round(left))
}

test('tokens spent by several gateways add up, even when reported concurrently', async () => {
  expect(await spend({ spent: 10 })).toEqual([90])
  const answers = await Promise.all(Array.from({ length: 10 }, () => spend({ spent: 5 })))
  expect(answers.flat().sort((a, b) => b - a)).toEqual([85, 80, 75, 70, 65, 60, 55, 50, 45, 40])
})

test('an overdraft is subtracted from later refills, up to one bucket', async () => {
  expect(await spend({ spent: 130 })).toEqual([-30])
  expect(await spend({ spent: 500 })).toEqual([-100])
})

test('a bucket refills over time up to its size, and is deleted once it is full', async () => {
  await spend({ spent: 60 }, { key: 'other', spent: 1 })
  // So slow that the refill during the test is below the rounding.
  const perSecond = 1e-3
  await settings.service.sql`update rate_buckets set updated_at = updated_at - interval '20000 seconds'`
  expect(await spend({ spent: 1, perSecond }, { key: 'other', spent: 1, perSecond })).toEqual([59, 100])
  await settings.service
    .sql`update rate_buckets set full_at = now() - interval '1 second' where key = 'other'`
  await spend({ spent: 1 })
  expect(await settings.service.sql`select key from rate_buckets`).toEqual([{ key: slow.key }])
})

test('a bucket that no gateway has reported yet is refilled for the reported seconds', async () => {
  expect(await spend({ spent: 10, seconds: 8, perSecond: 1 })).toEqual([98])
  expect(await spend({ key: 'rare', spent: 10, seconds: 3_600, perSecond: 1 })).toEqual([100])
})

test.each(['egressBytesPerMinute', 'traceBytesPerDay'])(
  '%s is spent by several services together, and a request budget only by the gateway',
  async (shared) => {
    const ask = { holder: 'ws_1', wanted: 60, most: 100, ms: 60_000, windowed: false }
    const lease = (service: 'gateway' | 'sdk' | 'workflows', name: string) =>
      settings.service
        .asService(service)
        .post('/internal/budgets/lease', { owner: 'one', asks: [{ ...ask, name }] })
    const granted = async (service: 'sdk' | 'workflows') =>
      (await lease(service, shared)).data(GrantedBudgets).leases.map((each) => each.granted)
    expect(await granted('sdk')).toEqual([60])
    expect(await granted('workflows')).toEqual([40])
    expect((await lease('sdk', 'openPolls')).error().code).toBe('forbidden')
    expect((await lease('gateway', 'openPolls')).status).toBe(200)
  },
)

test('several buckets are returned in the requested order', async () => {
  expect(await spend({ key: 'b', spent: 1 }, { key: 'a', spent: 2 }, { key: 'c', spent: 3 })).toEqual([
    99, 98, 97,
  ])
})
