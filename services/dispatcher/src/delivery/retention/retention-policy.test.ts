import { describe, expect, it } from '@jest/globals'
import { ConfigError } from '@opsplane/runtime'
import { loadConfig } from '../../config.js'
import { buildEventId } from '../../fixture/days.js'
import { dayMs, isBeyondRetention, lastExpiredDay, toDayNumber } from './retention-policy.js'

const day = Date.parse('2026-03-01T00:00:00.000Z')
const hour = 3_600_000

describe('the retention of deliveries', () => {
  it('expires a day the configured number of days after its end', () => {
    const ended = day + dayMs
    expect(lastExpiredDay(ended + 30 * dayMs - 1, 30)).toBe(toDayNumber(day) - 1)
    expect(lastExpiredDay(ended + 30 * dayMs, 30)).toBe(toDayNumber(day))
  })

  it('accepts no event of a day that is about to expire', () => {
    const [first, last] = [buildEventId(day), buildEventId(day + dayMs - 1)]
    const expires = day + 31 * dayMs
    for (const id of [first, last]) {
      expect(isBeyondRetention(id, expires - hour - 1, 30)).toBe(false)
      expect(isBeyondRetention(id, expires - hour, 30)).toBe(true)
    }
    expect(isBeyondRetention(buildEventId(day + dayMs), expires, 30)).toBe(false)
  })
})

describe('the configuration of the retention', () => {
  const env = {
    DATABASE_URL: 'postgres://x',
    SERVICE_PRIVATE_KEY: 'k',
    TRUSTED_SERVICE_KEYS: '{}',
    CURSOR_SECRET: 'a secret for the cursors of tests',
    OPSPLANE_MASTER_KEY: Buffer.alloc(32).toString('base64'),
  }

  it('defaults to 30 days, and to 90 days for held deliveries', () => {
    expect(loadConfig(env)).toMatchObject({ webhookRetentionDays: 30, webhookHeldRetentionDays: 90 })
  })

  it.each([
    [{ WEBHOOK_RETENTION_DAYS: '91' }, /WEBHOOK_HELD_RETENTION_DAYS must be at least WEBHOOK_RETENTION_DAYS/],
    [{ WEBHOOK_RETENTION_DAYS: '0' }, /WEBHOOK_RETENTION_DAYS/],
    [{ WEBHOOK_RETENTION_DAYS: '3651' }, /WEBHOOK_RETENTION_DAYS/],
  ])('rejects %j', (changes, message) => {
    expect(() => loadConfig({ ...env, ...changes })).toThrow(ConfigError)
    expect(() => loadConfig({ ...env, ...changes })).toThrow(message)
  })
})
