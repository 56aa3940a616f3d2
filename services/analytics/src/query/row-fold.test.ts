import { expect, it } from '@jest/globals'
import { ExactNumber, plainDecimal } from '@opsplane/contracts'
import fc from 'fast-check'
import { createRowFold } from './row-fold.js'
import { rowMeasures } from './studio-query.js'

const rows = [
  { site: 'Berlin', price: '10.50', owner: 'ada' },
  { site: 'Berlin', price: '4.50', owner: 'ada' },
  { site: null, price: null, owner: 'grace' },
]
const names = ['count', 'sum:price', 'avg:price', 'min:price', 'max:price', 'distinct:owner', 'p50:price']

it('aggregates rows by group', () => {
  const fold = createRowFold(rowMeasures({ measures: names }), { maxGroups: 10 })
  for (const row of rows) fold.add({ site: row.site }, row)
  expect(fold.rows().map(({ site, ...values }) => [site, ...Object.values(values)])).toEqual([
    ['Berlin', 2, 15, 7.5, 4.5, 10.5, 1, 4.5],
    [null, 1, 0, null, null, null, 1, null],
  ])
})

it('aggregates decimals exactly, beyond the precision of a double', () => {
  const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n })
  const one = fc.tuple(digits, fc.nat(20)).map(([whole, scale]) => ({ whole, scale }))
  const textOf = ({ whole, scale }: { whole: bigint; scale: number }) => {
    const text = String(whole < 0n ? -whole : whole).padStart(scale + 1, '0')
    const [before, after] = [text.slice(0, text.length - scale), text.slice(text.length - scale)]
    return `${whole < 0n ? '-' : ''}${before}${scale > 0 ? `.${after}` : ''}`
  }
  const scaled = (text: string) => {
    const [before = '', after = ''] = text.split('.')
    return BigInt(before + after.padEnd(40, '0'))
  }
  fc.assert(
    fc.property(fc.array(one, { minLength: 1, maxLength: 30 }), (values) => {
      const measures = ['sum:n', 'min:n', 'max:n', 'p50:n']
      const fold = createRowFold(rowMeasures({ measures }), { maxGroups: 1 })
      for (const value of values) fold.add({}, { n: textOf(value) })
      const exact = values.map((value) => scaled(textOf(value))).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
      const wanted = [
        exact.reduce((sum, value) => sum + value, 0n),
        ...[exact[0], exact.at(-1), exact[Math.ceil(exact.length / 2) - 1]],
      ]
      const got = Object.values(fold.rows()[0] ?? {})
      expect(got.map((value) => scaled(plainDecimal(String(value)) ?? ''))).toEqual(wanted)
    }),
  )
})

it('returns a number if a double represents it exactly, and its digits otherwise', () => {
  const measures = ['sum:n', 'avg:n', 'max:n']
  const folded = (...given: unknown[]) => {
    const fold = createRowFold(rowMeasures({ measures }), { maxGroups: 1 })
    for (const n of given) fold.add({}, { n })
    return Object.values(fold.rows()[0] ?? {})
  }
  const tenths = Array.from({ length: 15 }, (_, at) => (at % 2 === 0 ? '0.10' : '0.20'))
  expect(folded(...tenths)).toEqual([2.2, 2.2 / 15, 0.2])
  expect(folded(0.1, 0.2)).toEqual([0.3, 0.15, 0.2])
  expect(folded('12345678901234567890.12', '0.01')).toEqual([
    ...['12345678901234567890.13', '6172839450617283945.065', '12345678901234567890.12'],
  ])
  expect(folded(new ExactNumber('9007199254740993'), '1')).toEqual([
    ...[9_007_199_254_740_994, 4_503_599_627_370_497, '9007199254740993'],
  ])
  expect(folded('NaN', 'Infinity', '', 'x', null, '1e999999999', true)).toEqual([0, null, null])
})

it('treats decimals as equal regardless of trailing zeros', () => {
  const isDecimal = (name: string) => name === 'price'
  const fold = createRowFold(rowMeasures({ measures: ['count', 'distinct:price', 'distinct:note'] }), {
    ...{ maxGroups: 3, isDecimal },
  })
  for (const text of ['1.0', '1.00', '1']) fold.add({ price: text }, { price: text, note: text })
  expect(fold.rows()).toEqual([{ price: '1.0', count: 3, 'distinct:price': 1, 'distinct:note': 3 }])
})

it('rejects groups above the limit, and unknown measures', () => {
  const fold = createRowFold(rowMeasures({ measures: ['count'] }), { maxGroups: 1 })
  fold.add({ site: 'a' }, {})
  expect(() => fold.add({ site: 'b' }, {})).toThrow('too many groups')
  for (const measure of ['count:price', 'sum', 'median:price', 'p75:price'])
    expect(() => rowMeasures({ measures: [measure] })).toThrow('must be count, or sum')
})
