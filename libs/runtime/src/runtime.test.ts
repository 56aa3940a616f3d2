import { hostname } from 'node:os'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import {
  baseConfig,
  ConfigError,
  createLogger,
  createReleasers,
  cursorCodec,
  parseConfig,
  retryDelayMs,
  urlOfService,
} from './index.js'

describe('configuration', () => {
  const schema = z.object({
    port: z.coerce.number().int(),
    natsUrl: z.string(),
    databasePoolSize: z.coerce.number().default(8),
  })

  test('reads camelCase keys from SCREAMING_SNAKE variables', () => {
    expect(parseConfig(schema, { PORT: '80', NATS_URL: 'nats://x', DATABASE_POOL_SIZE: '' })).toEqual({
      port: 80,
      natsUrl: 'nats://x',
      databasePoolSize: 8,
    })
  })

  test('names every invalid variable in one error', () => {
    const read = () => parseConfig(schema, { PORT: 'eighty' })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/PORT .*\n.*NATS_URL is missing/)
  })

  test('names a replica after its host by default', () => {
    const env = { SERVICE_PRIVATE_KEY: 'key', TRUSTED_SERVICE_KEYS: '{}' }
    expect(parseConfig(baseConfig, env).instanceId).toBe(hostname())
    expect(parseConfig(baseConfig, { ...env, INSTANCE_ID: 'itsm-0' }).instanceId).toBe('itsm-0')
  })

  test('returns the URLs of other services, or names the missing one', () => {
    const env = { SERVICE_PRIVATE_KEY: 'key', TRUSTED_SERVICE_KEYS: '{}' }
    const config = parseConfig(baseConfig, { ...env, SERVICE_URLS: '{"itsm":"http://itsm:80"}' })
    expect(urlOfService(config, 'itsm')).toBe('http://itsm:80')
    expect(() => urlOfService(config, 'settings')).toThrow(/SERVICE_URLS .* settings/)
    expect(() => parseConfig(baseConfig, { ...env, SERVICE_URLS: '{"itsm":"itsm"}' })).toThrow(/SERVICE_URLS/)
  })
})

describe('retry delays', () => {
  test.each([
    [1, 'exponential', 2000],
    [3, 'exponential', 8000],
    [30, 'exponential', 60_000],
    [7, 'fixed', 2000],
  ] as const)('attempt %i, %s: %i ms', (attempt, strategy, expected) => {
    expect(retryDelayMs({ attempt, strategy, baseMs: 2000, maxMs: 60_000 })).toBe(expected)
  })

  test('keeps jitter within its share', () => {
    const at = (random: number) =>
      retryDelayMs({ attempt: 1, strategy: 'fixed', baseMs: 1000, maxMs: 9999, jitter: 0.1, random })
    expect([at(0), at(0.5), at(0.999)]).toEqual([900, 1000, 1100])
  })
})

describe('cursors', () => {
  const codec = cursorCodec('0123456789abcdef0123456789abcdef')

  test('are decoded unchanged, and only with the same binding', () => {
    const cursor = codec.encode(['2026-01-01', 'inc_1'], 'ws_1|list')
    expect(codec.decode(cursor, 'ws_1|list')).toEqual(['2026-01-01', 'inc_1'])
    expect(() => codec.decode(cursor, 'ws_2|list')).toThrow(
      expect.objectContaining({ code: 'invalid_cursor' }),
    )
  })

  test.each(['', 'x', 'AAAAAAAAAAAAAAAAAAAAAAAA', '%%%'])(
    'are rejected if they are malformed: %j',
    (cursor) => {
      expect(() => codec.decode(cursor, 'b')).toThrow(expect.objectContaining({ code: 'invalid_cursor' }))
    },
  )
})

describe('releasing resources', () => {
  test('closes all of them once, in reverse order, and rethrows the first error', async () => {
    const closed: string[] = []
    const releasers = createReleasers(createLogger({ service: 'test', level: 'silent' }))
    releasers.add('a', () => void closed.push('a'))
    releasers.add('b', () => {
      closed.push('b')
      throw new Error('b failed')
    })
    releasers.add('c', async () => void closed.push('c'))
    await expect(releasers.release()).rejects.toThrow('b failed')
    await expect(releasers.release()).rejects.toThrow('b failed')
    expect(closed).toEqual(['c', 'b', 'a'])
  })

  test('names a resource that is slow to close, and closes the rest without it', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const log = createLogger({ service: 'test', level: 'info', destination })
    const closed: string[] = []
    const releasers = createReleasers(log, { warnMs: 1, giveUpMs: 20 })
    releasers.add('a', () => void closed.push('a'))
    releasers.add('stuck', () => new Promise(() => {}))
    await expect(releasers.release()).rejects.toThrow('stuck did not close')
    expect(closed).toEqual(['a'])
    expect(lines.join()).toMatch(/"resource":"stuck".*still closing/)
  })
})

test('the log redacts secrets', () => {
  const lines: string[] = []
  const log = createLogger({
    service: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(line) },
  })
  log.info(
    { headers: { authorization: 'Bearer x1' }, password: 'x2', body: { user: { secret: 'x3' } } },
    'hello',
  )
  expect(lines.join()).not.toMatch(/x1|x2|x3/)
  expect(lines.join()).toContain('hello')
})
