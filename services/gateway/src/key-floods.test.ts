import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { asAda, call, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
beforeEach(async () => {
  platform = await startPlatform({ anonymousRateLimitPerMinute: 60 })
})
afterEach(() => platform.stop())

const get = (headers: Record<string, string>) => call(`${platform.url}/api/v1/itsm/incidents`, { headers })
const withKey = (key: string) => ({ ...asAda, Authorization: `Bearer ${key}` })

/** Sends more requests than the limit permits. */
async function flood(headersOf: (at: number) => Record<string, string>): Promise<number[]> {
  const statuses: number[] = []
  for (let at = 0; at < 110; at++) statuses.push((await get(headersOf(at))).status)
  // The cached verification of a key has expired by then, and less than one request has been refilled.
  platform.pass(600)
  return statuses
}

test.each<[string, (at: number) => Record<string, string>]>([
  ['without a key', () => ({})],
  ['with one wrong key', () => withKey('bad')],
  ['with a wrong key each', (at) => withKey(`bad${at}`)],
])('a flood of requests %s does not block valid keys from the same address', async (_what, headersOf) => {
  for (let round = 0; round < 2; round++) {
    const statuses = await flood((at) => headersOf(round * 1_000 + at))
    expect(statuses).toContain(429)
    // One token that was verified before, and one that was not.
    expect((await get(asAda)).status).toBe(200)
    expect((await get(withKey(`good${round}`))).status).toBe(200)
  }
})

test('wrong keys that exhaust their limit are rejected by the gateway, and known keys are still accepted', async () => {
  expect((await get(asAda)).status).toBe(200)
  for (let at = 0; at < 1_300; at++) await get(withKey(`bad${at}`))
  const asked = platform.questions.length
  expect((await get(withKey('bad'))).status).toBe(429)
  expect(platform.questions).toHaveLength(asked)
  // The cached verification has expired meanwhile.
  platform.pass(501)
  expect((await get(asAda)).status).toBe(200)
})
