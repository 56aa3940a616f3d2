import { expect, test } from '@jest/globals'
import { resourceEvent } from '@opsplane/contracts'
import { z } from 'zod'
import { checkEvents } from './event-check.js'

const Lamp = z.object({ id: z.string(), on: z.boolean() })
const catalog = { 'lamp.switched': resourceEvent(Lamp, 'A lamp was switched.', { by: z.string() }) }

const check = (data: object, type = 'lamp.switched') => {
  const whole = { before: null, after: { id: '1', on: true }, changes: ['on'], by: 'Ann', ...data }
  return () => checkEvents(catalog, [{ type, version: 1, data: JSON.stringify(whole) }])
}

test('accepts an event that matches its declaration, with its keys in any order', () => {
  expect(check({})).not.toThrow()
  expect(check({ before: { on: false, id: '1' }, after: null })).not.toThrow()
})

test.each([
  ['of an undeclared type', check({}, 'lamp.lost'), 'lamp.lost is not declared'],
  ['named like a method of objects', check({}, 'toString'), 'toString is not declared'],
  ['with a wrong field', check({ after: { id: '1', on: 'yes' } }), 'breaks its schema'],
  ['without a declared extra', check({ by: undefined }), 'breaks its schema'],
  ['with an undeclared extra', check({ reason: 'dark' }), 'does not declare'],
  ['with an undeclared field', check({ after: { id: '1', on: true, hash: 'x' } }), 'does not declare'],
])('rejects an event %s', (_what, checking, message) => {
  expect(checking).toThrow(message)
})
