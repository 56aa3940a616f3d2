import { expect, test } from '@jest/globals'
import { ExactNumber } from '@opsplane/client'
import { differences, withoutExtras } from './differences.js'

test('lists the fields that differ, with the path of nested objects', () => {
  const before = { title: 'Disk full', priority: { impact: 'low', urgency: 'low' }, tags: ['a'], gone: null }
  const after = {
    title: 'Disk full',
    priority: { impact: 'high', urgency: 'low' },
    tags: ['a', 'b'],
    assignee: 'ada',
  }
  expect(differences(before, after)).toEqual([
    { path: 'priority.impact', before: '"low"', after: '"high"' },
    { path: 'tags', before: '["a"]', after: '["a","b"]' },
    { path: 'gone', before: 'null', after: undefined },
    { path: 'assignee', before: undefined, after: '"ada"' },
  ])
})

test('lists every field of a created or deleted record', () => {
  expect(differences(null, { a: 1 })).toEqual([{ path: 'a', before: undefined, after: '1' }])
  expect(differences({ a: 1 }, null)).toEqual([{ path: 'a', before: '1', after: undefined }])
})

test('detects a difference in digits beyond the precision of a double', () => {
  const [one, other] = ['12345678901234567890', '12345678901234567891'].map((text) => new ExactNumber(text))
  expect(differences({ a: one }, { a: one })).toEqual([])
  expect(differences({ a: one }, { a: other })).toEqual([
    { path: 'a', before: '12345678901234567890', after: '12345678901234567891' },
  ])
})

test('removes fields that an event adds to the state but the record does not have', () => {
  const extras = { reason: null, level: 1 }
  expect(withoutExtras({ severity: 'high', level: 1, reason: null }, { severity: 'low' }, extras)).toEqual({
    severity: 'high',
  })
  expect(withoutExtras({ level: 1 }, { level: 0 }, extras)).toEqual({ level: 1 })
  expect(withoutExtras({ a: 1, level: 1 }, null, extras)).toEqual({ a: 1 })
  expect(withoutExtras(null, { level: 0 }, extras)).toBeNull()
})
