import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CiRelation, type TenantScope } from '@opsplane/contracts'
import { connect, type Database, selectionConditions } from '@opsplane/postgres'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { and, desc, eq } from 'drizzle-orm'
import { ciRelations as table } from '../../schema/cmdb.js'
import { itsm } from '../../service.js'
import { type RelationFilters, relationSelection } from './relation-selection.js'

let service: TestService
let database: Database
let api: ApiClient
const principal = testPrincipal()
const tenant: TenantScope = { workspaceId: principal.workspaceId ?? '', environment: 'production' }
const ci = (n: number) => `ci_${String(n).padStart(26, '0')}`
/** The searched words occur only in the `old` oldest relations, which are far from the beginning of the list. */
const [old, count] = [5_500, 9_000]

beforeAll(async () => {
  service = await startTestService(itsm)
  database = connect(service.adminUrl, { schema: 'itsm', max: 1 })
  api = service.as(principal)
  await service.sql`
    insert into configuration_items (id, workspace_id, environment, version, state)
    select 'ci_' || lpad(n::text, 26, '0'), ${tenant.workspaceId}, 'production', 1, json_build_object(
      'name', case when n = 7 then 'needle' when n <= 1000 then 'ancient-' || n else 'modern-' || n end,
      'class', 'server', 'status', 'operational', 'createdAt', '2026-01-01T00:00:00.000Z')
    from generate_series(1, 4000) n`
  // Ordered by number, with two relations per instant. Two in a thousand have the last type.
  await service.sql`
    insert into ci_relations (id, workspace_id, environment, version, state)
    select id, ${tenant.workspaceId}, 'production', 1, json_build_object('id', id,
      'sourceId', 'ci_' || lpad((case when n <= ${old}::int then 1 + n % 1000 else 1001 + n % 3000 end)::text, 26, '0'),
      'targetId', 'ci_' || lpad((1001 + (n + 1 + n / 1000) % 3000)::text, 26, '0'),
      'type', case when n % 500 = 3 then 'owned_by' when n % 2 = 0 then 'runs_on' else 'depends_on' end,
      'createdBy', json_build_object('id', 'system', 'name', 'Opsplane', 'type', 'system'),
      'createdAt', to_char('2026-01-01'::timestamp + (n / 2) * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from (select n, 'rel_' || lpad(n::text, 26, '0') as id from generate_series(1, ${count}::int) n) numbered`
  await service.sql`vacuum analyze configuration_items`
  await service.sql`vacuum analyze ci_relations`
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

/** Reads a whole list and returns the numbers of its relations. */
const walk = async (query: string): Promise<number[]> => {
  const numbers: number[] = []
  for (let after = ''; ; ) {
    const page = (await api.get(`/cmdb/relations?${query}&limit=200${after}`)).page(CiRelation)
    numbers.push(...page.items.map(({ id }) => Number(id.slice(4))))
    if (page.pagination.nextCursor === null) return numbers
    after = `&after=${encodeURIComponent(page.pagination.nextCursor)}`
  }
}
const numbered = (last: number, where: (n: number) => boolean = () => true) =>
  Array.from({ length: last }, (_, index) => last - index).filter(where)

describe('searching words in the list of relations', () => {
  it('finds a few matches among the oldest rows', async () => {
    const expected = numbered(old, (n) => n % 1000 === 6)
    expect(expected).toHaveLength(6)
    expect(await walk('q=needle')).toEqual(expected)
    expect(await walk('q=needle&sort=createdAt')).toEqual(expected.toReversed())
    expect(await walk('q=needle&type=runs_on,owned_by')).toEqual(expected)
    expect(await walk('q=needle&type=depends_on,owned_by')).toEqual([])
  })

  it('paginates thousands of matches among the oldest rows without duplicates', async () => {
    expect(await walk('q=ancient')).toEqual(numbered(old, (n) => n % 1000 !== 6))
    expect(await walk('q=ancient&type=runs_on,owned_by')).toEqual(
      numbered(old, (n) => n % 1000 !== 6 && (n % 2 === 0 || n % 500 === 3)),
    )
  })

  it('finds matches among the newest rows if all of them match', async () => {
    expect((await walk('q=modern')).slice(0, 400)).toEqual(numbered(count).slice(0, 400))
  })
})

describe('query plans of the list of relations', () => {
  const cases: [string[], RelationFilters][] = [
    [['ci_relations_created_idx'], { createdBefore: '2026-01-01T00:05:00.000Z' }],
    [['ci_relations_type_idx'], { type: ['owned_by'] }],
    [['ci_relations_key'], { sourceId: ci(1234) }],
    [['ci_relations_key'], { sourceId: ci(1234), type: ['runs_on', 'depends_on'] }],
    [['ci_relations_target_idx'], { itemId: ci(1234), direction: 'incoming' }],
    [['ci_relations_key', 'ci_relations_target_idx'], { itemId: ci(1234) }],
    [
      ['ci_relations_key', 'ci_relations_target_idx', 'configuration_items_search_idx'],
      { itemId: ci(1234), q: 'needle' },
    ],
    [['ci_relations_key', 'ci_relations_target_idx', 'configuration_items_search_idx'], { q: 'needle' }],
  ]

  it.each(cases)('use %s', async (indexes, filters) => {
    const selection = relationSelection(filters, tenant, undefined)
    const query = database.db
      .select({ id: table.id })
      .from(table)
      .where(
        and(
          eq(table.workspaceId, tenant.workspaceId),
          eq(table.environment, tenant.environment),
          ...selectionConditions(selection),
        ),
      )
      .orderBy(desc(table.createdAt), desc(table.id))
      .limit(51)
    const { sql: text, params } = query.toSQL()
    const values = params.map((value) => (typeof value === 'number' ? value : `'${value}'`))
    const given = text.replaceAll(/\$(\d+)/g, (_, at: string) => String(values[Number(at) - 1]))
    const plan = JSON.stringify(await database.sql.unsafe(`explain ${given}`))
    for (const index of indexes) expect(plan).toContain(index)
    expect(plan).not.toContain('Seq Scan on ci_relations')
  })
})
