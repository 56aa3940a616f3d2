import { describe, expect, test } from '@jest/globals'
import { assets } from '../record/assets.fixture.js'
import { readFilter } from '../row/filter.js'
import { Problems } from '../row/problems.js'
import { findAccessPath } from './access-path.js'
import { readSort } from './sort.js'

const query = { in: 'query', path: '' } as const

function access(filter: object, sort?: string, q?: string) {
  const problems = new Problems()
  const conditions = readFilter(assets, filter, query, problems)
  const asked = { conditions, sort: readSort(assets, sort, query, problems), q }
  problems.check()
  return findAccessPath(assets, asked)
}

describe('a list of any size', () => {
  test.each<[object, string | undefined]>([
    [{}, undefined],
    [{}, 'id'],
    [{}, '-createdAt'],
    [{}, 'createdAt'],
    [{}, 'price'],
    [{ price: { gte: 3, lt: 5 } }, '-price'],
    [{ status: 'new' }, '-quantity'],
    [{ status: 'new' }, 'quantity'],
    [{ status: 'new' }, 'status,-quantity'],
    [{ status: 'new', quantity: 3 }, undefined],
    [{ status: 'new', quantity: { gt: 3 } }, '-quantity'],
    [{ status: { in: ['new', 'used'] } }, '-quantity'],
    [{ site: 'rec_1' }, undefined],
    [{ serial: 'a', name: { ne: 'b' } }, 'name'],
    [{ id: { in: ['rec_1', 'rec_2'] }, active: true }, 'price'],
    [{ name: { contains: 'ril' } }, undefined],
  ])('is served with filter %j and sort %s', (filter, sort) => {
    expect(access(filter, sort)).toMatchObject({ served: true })
  })

  test.each<[object, string | undefined, string]>([
    [{ name: 'Drill' }, undefined, 'Add an index on (name).'],
    [{ status: 'new' }, undefined, 'Add an index on (status).'],
    [{ status: 'new' }, 'price', 'Add an index on (status, price).'],
    [{}, 'status,quantity', 'Add an index on (status, quantity).'],
    [{ price: { gt: 3 } }, undefined, 'Sort by price, with an index on (price).'],
    [
      { quantity: { gt: 3 }, status: 'new' },
      'price',
      'Sort by quantity first, with an index on (status, quantity).',
    ],
    [{ name: { ne: 'x' } }, undefined, 'No index serves such a condition.'],
    [{ or: [{ price: 1 }, { serial: 'a' }] }, undefined, 'No index serves such a condition.'],
    [
      { serial: { contains: 'abc' } },
      undefined,
      'Add an index of kind trigram on (serial), and give three characters or more.',
    ],
  ])('needs an index for filter %j with sort %s', (filter, sort, advice) => {
    expect(access(filter, sort)).toEqual({ served: false, advice })
  })

  test('needs a full-text index for a search', () => {
    expect(access({}, undefined, 'drill')).toMatchObject({ served: false })
  })

  test('reads the values of an `in` filter one by one', () => {
    expect(access({ status: { in: ['new', 'used'] } }, '-quantity')).toMatchObject({
      each: { values: ['new', 'used'] },
    })
  })
})
