import { describe, expect, test } from '@jest/globals'
import type { z } from 'zod'
import { CreateWebhook, UpdateWebhook, WebhookSnapshot } from '../dispatcher/dispatcher.js'
import { ChangePolicyPatch, ChangePolicyState, NewChangePolicy } from '../itsm/change-policies.js'
import { NewSlaPolicy, SlaPolicyPatch, SlaPolicyState } from '../itsm/sla-policies.js'
import { ExactNumber } from '../json/exact-json.js'
import { filterMatches, NewFilter } from './filter.js'

const faults = (schema: z.ZodType, value: unknown) =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => [path.join('/'), message])

const long = 'x'.repeat(1_001)
const longText = 'Too big: expected string to have <=1000 characters'
const conditions = (count: number, value: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`field-${at}`, value]))

describe('a new filter', () => {
  test.each<[string, object, [string, string][]]>([
    ['a long value', { category: long }, [['category', longText]]],
    ['a long one of several', { category: { in: ['vip', long] } }, [['category/in/1', longText]]],
    ['a long operand', { 'data.title': { starts_with: long } }, [['data.title/starts_with', longText]]],
    ['more than 50 conditions', conditions(51), [['', 'must have at most 50 conditions']]],
    [
      'long texts together',
      conditions(40, 'x'.repeat(900)),
      [['', 'must have at most 32768 characters, written as JSON']],
    ],
    ['nothing to hold', { category: {} }, [['category', 'must name at least one operator']]],
  ])('with %s is rejected with the path of the problem', (_, filter, expected) => {
    expect(faults(NewFilter, filter)).toEqual(expected)
  })

  test.each([
    ['texts as long as may be', conditions(30, 'x'.repeat(1_000))],
    ['as many conditions as may be', conditions(50, { in: ['low', 2, true, null], exists: true })],
  ])('may contain %s', (_, filter) => {
    expect(NewFilter.parse(filter)).toEqual(filter)
  })
})

test('filters compare all digits of exact numbers', () => {
  const document = { n: new ExactNumber('9007199254740993') }
  const double = 9_007_199_254_740_992
  expect(filterMatches({ n: { gt: double, lt: double + 4 } }, document)).toBe(true)
  expect(filterMatches({ n: double }, document)).toBe(false)
  expect(filterMatches({ n: { lte: double } }, document)).toBe(false)
})

describe('bounds of filters', () => {
  const policy = { name: 'Gold', metric: 'resolution', goals: { critical: 60 } }
  const webhook = { name: 'Pager', url: 'https://pager.example.com', events: ['incident.*'] }
  test.each<[string, z.ZodType, object, string]>([
    ['a new SLA policy', NewSlaPolicy, policy, 'conditions'],
    ['a changed SLA policy', SlaPolicyPatch, {}, 'conditions'],
    ['a new change policy', NewChangePolicy, { name: 'Risky' }, 'conditions'],
    ['a changed change policy', ChangePolicyPatch, {}, 'conditions'],
    ['a new webhook', CreateWebhook, webhook, 'filter'],
    ['a changed webhook', UpdateWebhook, {}, 'filter'],
  ])('apply to %s', (_, schema, body, field) => {
    expect(faults(schema, { ...body, [field]: { category: 'vip' } })).toEqual([])
    expect(faults(schema, { ...body, [field]: { category: long } })).toEqual([
      [`${field}/category`, longText],
    ])
  })

  test.each([
    ['SLA policy', SlaPolicyState.shape.conditions],
    ['change policy', ChangePolicyState.shape.conditions],
    ['webhook', WebhookSnapshot.shape.filter],
  ])('do not apply to a stored filter of a %s', (_, schema) => {
    const kept = { ...conditions(40, 'x'.repeat(900)), category: { in: [long] } }
    expect(schema.parse(kept)).toEqual(kept)
  })
})
