import { describe, expect, it } from '@jest/globals'
import { changedFields } from '../core/decider.js'
import { canonicalJson } from './canonical-json.js'

/** As specified for the audit chain: ADR 020. */
const specified = (value: unknown) =>
  JSON.stringify(value, (_key, part: unknown) =>
    part === null || typeof part !== 'object' || Array.isArray(part)
      ? part
      : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))),
  ) ?? 'null'

const values: unknown[] = [
  ...[
    null,
    undefined,
    true,
    0,
    -0,
    1.5,
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    'a "quoted"\n\u2028 text',
    '\ud800',
    '😀',
  ],
  ...[[], {}, [undefined, null, [1]], { b: 1, a: { d: undefined, c: [] } }],
  { B: 1, a: 2, Ä: 3, '😀': 4, '\uffff': 5, '': 6, '"': 7 },
  { b: 1, 10: 2, 9: 3, '01': 4, '-1': 5, '1.5': 6, 4294967294: 7, 4294967295: 8, 99999999999: 9 },
  JSON.parse('{"z":1,"__proto__":{"b":1,"a":2},"constructor":3}'),
  { at: new Date(0), nested: [{ toJSON: () => ({ y: 1, x: 2 }) }] },
]

describe('canonical JSON', () => {
  it.each(values.map((value) => [value]))('of %j matches the specification', (value) => {
    expect(canonicalJson(value)).toBe(specified(value))
    expect(canonicalJson({ deep: [value] })).toBe(specified({ deep: [value] }))
  })

  it('has the same text for equal values', () => {
    expect(canonicalJson({ a: 1, b: { c: 2, d: 3 } })).toBe(canonicalJson({ b: { d: 3, c: 2 }, a: 1 }))
  })
})

describe('changed fields', () => {
  it('are the fields whose canonical JSON differs', () => {
    for (const before of values)
      for (const after of values)
        expect(changedFields({ it: before }, { it: after })).toEqual(
          specified(before) === specified(after) ? [] : ['it'],
        )
  })
})
