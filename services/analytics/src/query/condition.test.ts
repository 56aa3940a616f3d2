import { describe, expect, it } from '@jest/globals'
import type { Filter } from '@opsplane/contracts'
import { incidents } from '../dataset/incidents.js'
import { conditionsSql } from './condition.js'
import { Parameters } from './parameters.js'

const sqlOf = (filters: Filter) => {
  const parameters = new Parameters()
  return { sql: conditionsSql(incidents, filters, parameters), values: parameters.values }
}

describe('conditions of a query', () => {
  it('become SQL with declared columns only, and values as parameters', () => {
    const hostile = `x' or '1' = '1`
    expect(
      sqlOf({ severity: hostile, assigneeId: { in: ['usr_a', null] }, reopenCount: { gte: 2 } }),
    ).toEqual({
      sql: [
        'severity = $1::text::text',
        '(assignee_id = $2::text::text or assignee_id is null)',
        'reopen_count >= $3::text::numeric',
      ],
      values: [hostile, 'usr_a', '2'],
    })
  })

  it.each([
    'id) or (true',
    'severity; drop table fact_incidents',
    '__proto__',
    'constructor',
    'time_to_resolve_ms',
  ])('reject the undeclared column %j', (name) => {
    expect(() => sqlOf(JSON.parse(JSON.stringify({ [name]: 'x' })))).toThrow('must be one of')
  })

  it.each([
    [{ severity: 3 }],
    [{ reopenCount: 'two' }],
    [{ resolvedAt: 'yesterday' }],
    [{ reopenCount: { contains: 1 } }],
  ])('reject a value of another type: %j', (filters) => {
    expect(() => sqlOf(filters as never)).toThrow('The query cannot be answered')
  })

  it('treat null as unequal to every value', () => {
    expect(sqlOf({ category: { ne: 'disk' }, channel: { nin: [] } }).sql).toEqual([
      'not coalesce(category = $1::text::text, false)',
      'not coalesce(false, false)',
    ])
  })
})
