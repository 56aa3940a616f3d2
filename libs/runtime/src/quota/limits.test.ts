import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { baseConfig } from '../config.js'
import { createLimits, limitTable } from './limits.js'

test('a limit set for one workspace applies to it alone, the other limits apply to all', () => {
  const limits = createLimits({ limits: { webhooks: 5 }, workspaceLimits: { ws_1: { webhooks: 7 } } })
  expect(limits.of('webhooks', 'ws_1')).toBe(7)
  expect(limits.of('webhooks', 'ws_2')).toBe(5)
  expect(limits.of('openPolls', 'ws_1')).toBe(limitTable.openPolls.initial)
})

test.each(['{"webhook":1}', '{"webhooks":-1}', '{"webhooks":"many"}', '[]'])('rejects LIMITS=%s', (text) => {
  expect(baseConfig.shape.limits.safeParse(text).success).toBe(false)
})

test('the documentation lists every limit with its current default', () => {
  const page = readFileSync(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8')
  for (const [name, { initial, description }] of Object.entries(limitTable))
    expect(page).toContain(`| \`${name}\` | ${initial.toLocaleString('en')} | ${description} |`)
})
