import { expect, it } from '@jest/globals'
import { createRowFold } from './row-fold.js'
import { rowMeasures } from './studio-query.js'

const rows = [
  { site: 'Berlin', price: '10.50', owner: 'ada' },
  { site: 'Berlin', price: '4.50', owner: 'ada' },
  { site: null, price: null, owner: 'grace' },
]
const names = ['count', 'sum:price', 'avg:price', 'min:price', 'max:price', 'distinct:owner', 'p50:price']

it('adds rows up by group as they come', () => {
  const fold = createRowFold(rowMeasures({ measures: names }), { mostGroups: 10 })
  for (const row of rows) fold.add({ site: row.site }, row)
  expect(fold.rows().map(({ site, ...values }) => [site, ...Object.values(values)])).toEqual([
    ['Berlin', 2, 15, 7.5, 4.5, 10.5, 1, 4.5],
    [null, 1, 0, null, null, null, 1, null],
  ])
})

it('refuses more groups than it may hold, and measures it does not know', () => {
  const fold = createRowFold(rowMeasures({ measures: ['count'] }), { mostGroups: 1 })
  fold.add({ site: 'a' }, {})
  expect(() => fold.add({ site: 'b' }, {})).toThrow('too many groups')
  for (const measure of ['count:price', 'sum', 'median:price', 'p75:price'])
    expect(() => rowMeasures({ measures: [measure] })).toThrow('must be count, or sum')
})
