import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { CiRelation } from '@opsplane/contracts'
import { type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

it('finds a few matches among the thousands of relations of one item', async () => {
  const other = testPrincipal()
  const workspaceId = other.workspaceId ?? ''
  const id = (n: number) => `ci_${String(n).padStart(26, '9')}`
  const spokes = 2_600
  await service.sql`
    insert into configuration_items (id, workspace_id, environment, version, state)
    select 'ci_' || lpad(n::text, 26, '9'), ${workspaceId}, 'production', 1, json_build_object(
      'name', case when n in (10000, 10005, 10100, 12500) then 'needle' else 'spoke-' || n end,
      'class', 'server', 'status', 'operational', 'createdAt', '2026-01-01T00:00:00.000Z')
    from generate_series(10000, ${10_000 + spokes}::int) n`
  await service.sql`
    insert into ci_relations (id, workspace_id, environment, version, state)
    select id, ${workspaceId}, 'production', 1, json_build_object('id', id, 'sourceId', ${id(10_000)}::text,
      'targetId', 'ci_' || lpad(n::text, 26, '9'), 'type', case when n % 2 = 0 then 'runs_on' else 'depends_on' end,
      'createdBy', json_build_object('id', 'system', 'name', 'Opsplane', 'type', 'system'),
      'createdAt', to_char('2026-01-01'::timestamp + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from (select n, 'rel_' || lpad(n::text, 26, '9') as id
      from generate_series(10001, ${10_000 + spokes}::int) n) numbered`
  const page = async (query: string) =>
    (await service.as(other).get(`/cmdb/relations?${query}`)).page(CiRelation)
  const found = async (query: string) => (await page(query)).items.map((each) => Number(each.id.slice(-5)))
  const ofHub = `itemId=${id(10_000)}`
  expect(await found(`${ofHub}&q=needle`)).toEqual([12_500, 10_100, 10_005])
  expect(await found(`${ofHub}&q=needle&sort=createdAt`)).toEqual([10_005, 10_100, 12_500])
  expect(await found(`${ofHub}&q=needle&type=depends_on`)).toEqual([10_005])
  const { nextCursor } = (await page(`${ofHub}&q=needle&limit=2`)).pagination
  const after = encodeURIComponent(nextCursor ?? '')
  expect(await found(`${ofHub}&q=needle&limit=2&after=${after}`)).toEqual([10_005])
  expect(await found(`${ofHub}&q=spoke-10007`)).toEqual([10_007])
  expect(await found(`${ofHub}&q=absent`)).toEqual([])
  // The source itself has the word, so all its relations match.
  expect(await found(`sourceId=${id(10_000)}&q=needle&limit=2`)).toEqual([12_600, 12_599])
  expect(await found(`sourceId=${id(10_000)}&q=spoke-10007`)).toEqual([10_007])
  expect(await found(`targetId=${id(10_007)}&q=needle`)).toEqual([10_007])
})
