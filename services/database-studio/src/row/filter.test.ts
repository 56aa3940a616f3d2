import { describe, expect, test } from '@jest/globals'
import { assets } from '../record/assets.fixture.js'
import { conditionsSql } from './conditions.js'
import { readFilter } from './filter.js'
import { Parameters } from './parameters.js'
import { Problems } from './problems.js'

const query = { in: 'query', path: '/filter' } as const

function compiled(filter: unknown) {
  const problems = new Problems()
  const conditions = readFilter(assets, filter, query, problems)
  problems.check()
  const parameters = new Parameters()
  return { sql: conditionsSql(conditions, 'r', parameters), values: parameters.values }
}

const detailsOf = (filter: unknown) => {
  try {
    compiled(filter)
  } catch (error) {
    return (error as { details: { path: string; message: string }[] }).details.map(
      ({ path, message }) => `${path} ${message}`,
    )
  }
  return []
}

describe('a filter', () => {
  test.each<[object, string, (string | null)[]]>([
    [{}, 'true', []],
    [{ name: 'Drill' }, 'r."name" = $1::text', ['Drill']],
    [
      { createdAt: { gte: '2026-03-02T11:00:00+01:00' } },
      'r."created_at" >= $1::text::timestamptz',
      ['2026-03-02T10:00:00.000Z'],
    ],
    [{ serial: null }, 'r."serial" is null', []],
    [{ serial: { ne: null } }, 'r."serial" is not null', []],
    [{ serial: { ne: 'a' } }, 'r."serial" is distinct from $1::text', ['a']],
    [
      { price: { gt: '1.5', lte: 3 } },
      'r."price" > $1::text::numeric and r."price" <= $2::text::numeric',
      ['1.5', '3'],
    ],
    [{ active: { exists: true } }, 'r."active" is not null', []],
    [
      { name: { starts_with: 'Dr' } },
      '(r."name"::text >= $1::text and r."name"::text < $2::text)',
      ['Dr', 'Ds'],
    ],
    [{ name: { starts_with: '\u{10ffff}' } }, 'r."name"::text >= $1::text', ['\u{10ffff}']],
    [{ name: { contains: '50%_\\' } }, 'r."name"::text like $1::text', ['%50\\%\\_\\\\%']],
    [{ quantity: { in: [1, 1] } }, '(r."quantity" = $1::text::int4)', ['1']],
    [
      { or: [{ name: 'a' }, { quantity: 2, active: true }] },
      '((r."name" = $1::text) or (r."quantity" = $2::text::int4 and r."active" = $3::text::bool))',
      ['a', '2', 'true'],
    ],
  ])('%j is compiled with the types of its columns', (filter, sql, values) => {
    expect(compiled(filter)).toEqual({ sql, values })
  })

  test.each<[unknown, string[]]>([
    ['x', ['/filter must be an object of conditions']],
    [{ colour: 'red' }, ['/filter/colour is not a field of this table']],
    [{ 'name.x': 'red' }, ['/filter/name.x is not a field of this table']],
    [
      { price: { above: 3 } },
      [expect.stringContaining('/filter/price/above is no operator') as unknown as string],
    ],
    [{ price: {} }, ['/filter/price must name at least one operator']],
    [
      { price: 'dear', quantity: { gt: 'x' } },
      ['/filter/price must be a decimal, such as "12.50"', '/filter/quantity/gt must be a whole number'],
    ],
    [{ status: 'old' }, ['/filter/status must be one of new, used']],
    [{ quantity: { contains: '1' } }, ['/filter/quantity/contains is for texts']],
    [{ active: { gt: true } }, ['/filter/active/gt must not be compared: the field is true or false']],
    [{ or: [] }, ['/filter/or must have a filter']],
    [{ or: Array.from({ length: 51 }, () => ({})) }, ['/filter/or must have at most 50 filters']],
    [{ [`extra${'.a'.repeat(101)}`]: 1 }, [`/filter/extra${'.a'.repeat(97)}. must have at most 100 parts`]],
    [{ or: [{ name: 3 }] }, ['/filter/or/0/name must be a text']],
    [
      { or: [{ or: [{ or: [{ or: [{}] }] }] }] },
      ['/filter/or/0/or/0/or/0/or must not be nested deeper than 4'],
    ],
  ])('%j is rejected with the path of the error', (filter, details) => {
    expect(detailsOf(filter)).toEqual(details)
  })

  test('with too many conditions is rejected with one error', () => {
    const or = Array.from({ length: 60 }, (_, index) => ({ quantity: index }))
    expect(detailsOf({ or })).toHaveLength(1)
  })

  test('has its values in parameters, never in the SQL text', () => {
    const hostile = `'; drop table x; --`
    const { sql, values } = compiled({ name: hostile, 'extra.a"b': hostile, site: { in: [hostile, 'b'] } })
    expect(sql).not.toContain('drop')
    expect(values.filter((value) => value?.includes('drop table'))).toHaveLength(3)
  })
})
