import { describe, expect, test } from '@jest/globals'
import { assets } from '../record/assets.fixture.js'
import { Parameters } from '../row/parameters.js'
import { Problems } from '../row/problems.js'
import { orderBy, type Position, rangesAfterPosition, readSort } from './sort.js'

const query = { in: 'query', path: '/sort' } as const

function sortOf(sort?: string) {
  const problems = new Problems()
  const terms = readSort(assets, sort, query, problems)
  problems.check()
  return terms
}
const after = (sort: string, position: Position) =>
  rangesAfterPosition(sortOf(sort), position, 'r', new Parameters())

describe('a sort', () => {
  test.each([
    [undefined, 'r."id" desc'],
    ['-price,name', 'r."price" desc, r."name" asc, r."id" asc'],
    ['createdAt', 'r."created_at" asc, r."id" asc'],
    ['-id,name', 'r."id" desc'],
  ])('by %s has the id as its last term', (sort, order) => {
    expect(orderBy(sortOf(sort), 'r')).toBe(order)
  })

  test.each(['extra', 'colour', '', 'name,name', 'name,serial,counter,price,active'])(
    'by %j is rejected',
    (sort) => {
      expect(() => sortOf(sort)).toThrow('The request is not valid')
    },
  )
})

describe('the condition for the rows after a position', () => {
  test('is one row comparison if no value is null and all directions are equal', () => {
    expect(after('-quantity', ['3', 'rec_1'])).toEqual([
      '(r."quantity", r."id") < ($1::text::int4, $2::text)',
    ])
  })

  test('is one range for each prefix of the sort otherwise', () => {
    expect(after('quantity,-name', ['3', 'a', 'rec_1'])).toEqual([
      'r."quantity" = $1::text::int4 and r."name" = $2::text and r."id" < $3::text',
      'r."quantity" = $1::text::int4 and r."name" < $2::text',
      'r."quantity" > $1::text::int4',
    ])
  })

  test.each<[string, Position, string[]]>([
    [
      'serial',
      ['a', 'rec_1'],
      ['r."serial" = $1::text and r."id" > $2::text', 'r."serial" > $1::text', 'r."serial" is null'],
    ],
    ['serial', [null, 'rec_1'], ['r."serial" is null and r."id" > $1::text']],
    ['-serial', ['a', 'rec_1'], ['r."serial" = $1::text and r."id" < $2::text', 'r."serial" < $1::text']],
    ['-serial', [null, 'rec_1'], ['r."serial" is null and r."id" < $1::text', 'r."serial" is not null']],
  ])('orders nulls last when ascending and first when descending: %s %j', (sort, position, ranges) => {
    expect(after(sort, position)).toEqual(ranges)
  })
})
