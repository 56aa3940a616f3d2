import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { Session } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { password, type Settings, startSettings } from '../settings.fixture.js'
import { createThrottle, type Throttle } from './throttle.js'
import { createThrottleTable } from './throttle-table.js'

let settings: Settings
let database: Database
let second = 0
/** The throttles of two replicas. */
let here: Throttle
let there: Throttle
/** Statements sent by both replicas. */
let statements = 0

const at = (offset = 0) => new Date(Date.UTC(2026, 2, 1, 10, 0, second + offset)).toISOString()
const home = '203.0.113.7'
const stranger = '198.51.100.1'

beforeAll(async () => {
  settings = await startSettings()
  database = connect(settings.service.adminUrl, { schema: 'settings', max: 4, applicationName: 'throttle' })
})
afterAll(async () => {
  await database?.close()
  await settings?.stop()
})
beforeEach(async () => {
  await settings.service.sql`delete from login_throttle`
  second += 7_200
  statements = 0
  const counting = () => {
    const table = createThrottleTable(database.sql)
    return createThrottle({
      count: (...input) => {
        statements++
        return table.count(...input)
      },
      forgive: (...input) => table.forgive(...input),
    })
  }
  here = counting()
  there = counting()
})

/** Seconds to wait, or 0 if the attempt was admitted and counted as failed. */
async function fail(throttle: Throttle, email: string, address: string, offset = 0): Promise<number> {
  try {
    await throttle.begin(throttle.attempt(email, address), at(offset))
    return 0
  } catch (error) {
    if (!(error instanceof Error && 'headers' in error)) throw error
    expect(error).toMatchObject({ code: 'rate_limited' })
    return Number((error.headers as Record<string, string>)['Retry-After'])
  }
}
const succeed = (throttle: Throttle, email: string, address: string, offset = 0) =>
  throttle.succeeded(throttle.attempt(email, address), at(offset))
const rowCount = async () => (await settings.service.sql`select from login_throttle`).count

describe('password attempts for an account from one network', () => {
  it('are counted in any order of their clocks while they are free', async () => {
    for (const offset of [2, 0, 1, -3]) expect(await fail(there, 'ada', stranger, offset)).toBe(0)
    expect(await fail(here, 'grace', stranger, -5)).toBe(0)
  })

  it('have five free, then each doubles the wait, on whichever replica they are counted', async () => {
    const replicas = [here, there]
    for (let n = 0; n < 6; n++) expect(await fail(replicas[n % 2] ?? here, 'ada', stranger)).toBe(0)
    expect([await fail(here, 'ada', stranger), await fail(there, 'ada', stranger)]).toEqual([1, 1])
    expect(await fail(there, 'ada', stranger, 1)).toBe(0)
    expect(await fail(here, 'ada', stranger, 1)).toBe(2)
    expect(await fail(here, 'ada', stranger, 3)).toBe(0)
    expect(await fail(there, 'ada', stranger, 3)).toBe(4)
  })

  it('wait at most 15 minutes, and are forgotten after an hour', async () => {
    for (let n = 0; n < 5; n++) await fail(here, 'ada', stranger)
    let offset = 0
    for (let failure = 0; failure < 14; failure++) {
      expect(await fail(here, 'ada', stranger, offset)).toBe(0)
      offset += await fail(here, 'ada', stranger, offset)
    }
    expect(await fail(here, 'ada', stranger, offset)).toBe(0)
    expect(await fail(here, 'ada', stranger, offset)).toBe(900)
    offset += 3_600
    for (let n = 0; n < 6; n++) expect(await fail(there, 'ada', stranger, offset)).toBe(0)
  })

  it('all count when they are made concurrently on both replicas', async () => {
    const replicas = [here, there]
    const waits = await Promise.all(
      Array.from({ length: 30 }, (_, n) => fail(replicas[n % 2] ?? here, 'ada', stranger)),
    )
    expect(waits.filter((wait) => wait === 0)).toHaveLength(6)
  })

  it('execute no statement once this process has recorded that they must wait', async () => {
    for (let n = 0; n < 6; n++) await fail(here, 'ada', stranger)
    expect(statements).toBe(6)
    for (let n = 0; n < 20; n++) expect(await fail(here, 'ada', stranger)).toBe(1)
    expect(statements).toBe(6)
    for (let n = 0; n < 20; n++) expect(await fail(there, 'ada', stranger)).toBe(1)
    expect(statements).toBe(7)
  })
})

describe('the owner of an account under attack', () => {
  const guessFromManyNetworks = async (networks: number) => {
    for (let n = 0; n < networks; n++) await fail(here, 'ada', `198.51.100.${n}`)
  }

  it('is not throttled by attempts from one network', async () => {
    for (let n = 0; n < 40; n++) await fail(here, 'ada', stranger)
    expect(await fail(there, 'ada', home)).toBe(0)
  })

  it('can log in from a network known for the account, regardless of attempts from others', async () => {
    await succeed(here, 'ada', home)
    await guessFromManyNetworks(40)
    expect(await fail(there, 'ada', '198.51.100.99')).toBeGreaterThan(0)
    for (let n = 0; n < 5; n++) expect(await fail(there, 'ada', home)).toBe(0)
  })

  it('waits at most a minute on a new network, and is then admitted', async () => {
    let offset = 0
    for (let n = 0; n < 40; n++) offset += await fail(here, 'ada', `198.51.100.${n}`, offset)
    await fail(here, 'ada', '198.51.100.200', offset)
    const wait = await fail(there, 'ada', home, offset)
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
    expect(await fail(there, 'ada', home, offset + wait)).toBe(0)
  })

  it('has no failures counted for attempts that are refused because of others', async () => {
    await guessFromManyNetworks(30)
    for (let n = 0; n < 10; n++) expect(await fail(there, 'ada', home)).toBeGreaterThan(0)
    const [pair] = await settings.service.sql`
      select failures from login_throttle where key = ${here.attempt('ada', home).pair}`
    expect(pair).toBeUndefined()
  })

  it('resets the counts of the account by a login, but not those of another network', async () => {
    await guessFromManyNetworks(25)
    for (let n = 0; n < 6; n++) await fail(here, 'bob', stranger)
    await succeed(here, 'ada', home)
    expect(await fail(there, 'ada', '198.51.100.98')).toBe(0)
    expect(await fail(there, 'bob', stranger)).toBe(1)
  })

  it('has no trusted network after a month without a login', async () => {
    await succeed(here, 'ada', home)
    const month = 30 * 24 * 3_600
    for (let n = 0; n < 30; n++) await fail(here, 'ada', `198.51.100.${n}`, month + 1)
    expect(await fail(there, 'ada', home, month + 1)).toBeGreaterThan(0)
  })
})

describe('a network that tries many accounts', () => {
  it('has fifty free attempts, and a correct login of its own does not reset them', async () => {
    for (let n = 0; n < 50; n++) expect(await fail(here, `user${n}`, stranger)).toBe(0)
    expect(await fail(here, 'own', stranger)).toBe(0)
    await succeed(here, 'own', stranger)
    expect(await fail(here, 'user50', stranger)).toBe(0)
    expect(await fail(there, 'user51', stranger)).toBe(1)
    expect(await fail(there, 'user51', home)).toBe(0)
  })

  it('does not block an account that has logged in from it, as behind a proxy with one shared address', async () => {
    const proxy = '10.0.0.1'
    await succeed(here, 'ada', proxy)
    for (let n = 0; n < 60; n++) await fail(here, `unknown${n}`, proxy)
    expect(await fail(here, 'bob', proxy)).toBeGreaterThan(0)
    for (const replica of [here, there]) {
      expect(await fail(replica, 'ada', proxy)).toBe(0)
      await succeed(replica, 'ada', proxy)
    }
    // Guesses at the account itself are still throttled.
    for (let n = 0; n < 6; n++) expect(await fail(here, 'ada', proxy)).toBe(0)
    expect(await fail(there, 'ada', proxy)).toBe(1)
  })

  it('regains no attempts by logins that did not count against it', async () => {
    await succeed(here, 'own', stranger)
    for (let n = 0; n < 51; n++) {
      expect(await fail(here, `user${n}`, stranger)).toBe(0)
      expect(await fail(here, 'own', stranger)).toBe(0)
      await succeed(here, 'own', stranger)
    }
    expect(await fail(there, 'user51', stranger)).toBe(1)
  })

  it('is the /64 of an IPv6 address', async () => {
    for (let n = 0; n < 51; n++) await fail(here, `user${n}`, `2001:db8:0:1:${n}::${n}`)
    expect(await fail(there, 'one-more', '2001:db8:0:1::1')).toBe(1)
    expect(await fail(there, 'one-more', '2001:db8:0:2::1')).toBe(0)
  })
})

it('deletes expired rows while it counts an attempt', async () => {
  for (let n = 0; n < 10; n++) await fail(here, `user${n}`, stranger)
  expect(await rowCount()).toBe(21)
  await fail(here, 'ada', home, 3_700)
  expect(await rowCount()).toBe(3)
})

it('stores neither e-mails nor addresses', async () => {
  const owner = await settings.owner('kept')
  const rows = await settings.service.sql`select * from login_throttle`
  expect(rows.length).toBeGreaterThan(0)
  expect(JSON.stringify(rows)).not.toContain(owner.email)
  expect(JSON.stringify(rows)).not.toContain(home)
})

it('counts no failure for a login that was refused for lack of capacity', async () => {
  const crowded = await startSettings({ PASSWORD_HASH_CONCURRENCY: '1', PASSWORD_HASH_QUEUE: '1' })
  try {
    const owner = await crowded.owner('crowded')
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => crowded.login(owner.email, password, `203.0.113.${n}`)),
    )
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThan(0)
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0)
    const [{ failures } = { failures: null }] = await crowded.service.sql`
      select coalesce(sum(failures), 0)::int as failures from login_throttle`
    expect(failures).toBe(0)
    expect((await crowded.login(owner.email, password)).data(Session).user.email).toBe(owner.email)
  } finally {
    await crowded.stop()
  }
})
