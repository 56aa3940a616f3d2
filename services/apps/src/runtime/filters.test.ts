import { describe, expect, it } from '@jest/globals'
import { filterMatches } from '@opsplane/contracts'
import fc from 'fast-check'
import { applyFilterValues, combineFilters, evaluateFilter } from './filters.js'

describe('a filter with expressions', () => {
  it.each<[string, Parameters<typeof evaluateFilter>]>([
    ['a list for a value', [{ a: '{{ x }}' }, { a: ['b'] }]],
    ['operators for a value', [{ a: '{{ x }}' }, { a: { ne: 1 } }]],
    ['a value for operators', [{ a: { gt: '{{ x }}' } }, { a: 1 }]],
    ['more operators', [{ a: { gt: '{{ x }}' } }, { a: { gt: 1, lt: 2 } }]],
    ['another operator', [{ a: { gt: '{{ x }}' } }, { a: { lt: 2 } }]],
    ['a list within a list', [{ a: { in: ['{{ x }}'] } }, { a: { in: [['b']] } }]],
    ['nothing where order is asked for', [{ a: { gt: '{{ x }}' } }, { a: { gt: null } }]],
  ])('rejects a mismatched value: %s', (_why, [declared, values]) => {
    expect(() => evaluateFilter(declared, values)).toThrow('no value')
    if (_why !== 'nothing where order is asked for')
      expect(() => evaluateFilter(declared, values, true)).toThrow('no value')
  })

  it('keeps conditions that evaluate to null, unless they are optional', () => {
    const declared = { a: '{{ x }}', b: { gt: '{{ y }}' }, c: 'c' }
    expect(evaluateFilter({ a: '{{ x }}' }, { a: null })).toEqual({ a: null })
    expect(evaluateFilter(declared, { a: null, b: { gt: null }, c: 'c' }, true)).toEqual({ c: 'c' })
  })
})

/** Evaluates alternatives like the database studio. */
const holds = ({ or, ...rest }: Record<string, unknown>, row: object): boolean =>
  filterMatches(rest as never, row) &&
  (or === undefined || (or as Record<string, unknown>[]).some((each) => holds(each, row)))

const field = fc.constantFrom('a', 'b', 'c')
const value = fc.constantFrom(1, 2, 3)
const filter = fc.dictionary(
  field,
  fc.oneof(value, fc.record({ in: fc.array(value) }), fc.record({ ne: value })),
  {
    maxKeys: 3,
  },
)
const row = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] })

it('combined filters match exactly the rows that every filter matches', () => {
  fc.assert(
    fc.property(fc.array(filter, { maxLength: 3 }), row, (filters, given) => {
      expect(holds(combineFilters(filters), given)).toBe(
        filters.every((each) => filterMatches(each as never, given)),
      )
    }),
  )
  expect(() => combineFilters([{ or: [] }])).toThrow('or')
})

it('values written under a filter keep the record within the filter', () => {
  fc.assert(
    fc.property(filter, row, row, fc.boolean(), (bound, before, given, isNew) => {
      fc.pre(isNew || filterMatches(bound as never, before))
      let written: Record<string, unknown> | undefined
      try {
        written = applyFilterValues(bound as never, given, isNew)
      } catch {
        return
      }
      expect(filterMatches(bound as never, isNew ? written : { ...before, ...written })).toBe(true)
      expect(written).toMatchObject(given)
    }),
  )
  expect(() => applyFilterValues({ 'extra.vip': true }, { extra: { vip: true } }, false)).toThrow()
})
