import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, newId } from '@opsplane/contracts'
import { startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../service.js'
import { occupyingStatuses, othersStatement } from './conflict-reader.js'

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm)
})
afterAll(() => service?.stop())

interface Node {
  'Index Name'?: string
  'Actual Rows': number
  Plans?: Node[]
}
const flat = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(flat)]

/** Creates a four-hour change every half hour, all on one item: eleven of them overlap any two hours. */
async function workspaceWith(count: number): Promise<{ workspaceId: string; item: string }> {
  const principal = testPrincipal()
  const workspaceId = principal.workspaceId ?? ''
  const {
    version: _,
    allowedActions: __,
    ...state
  } = (await service.as(principal).post('/itsm/changes', { title: 'New disks' })).data(Change)
  const item = newId('ci')
  const instant = (hours: string) =>
    `to_char((timestamp '2026-06-03' + ${hours} * interval '1 hour'), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  await service.sql.unsafe(
    `insert into changes (id, workspace_id, environment, version, state)
     select $1::text || i, $1, 'production', 1, ($2::text::jsonb || jsonb_build_object(
         'id', $1::text || i, 'number', 'CHG-' || i + 10, 'status', 'scheduled', 'ciIds', jsonb_build_array($3::text),
         'plannedStart', ${instant('(i - $4::int / 2) / 2.0')}, 'plannedEnd', ${instant('((i - $4::int / 2) / 2.0 + 4)')}
       ))::json
       from generate_series(1, $4::int) i`,
    [workspaceId, JSON.stringify(state), item, count],
  )
  return { workspaceId, item }
}

it('reads as few rows to find overlapping changes among 10,000 planned changes as among 100', async () => {
  for (const count of [100, 10_000]) {
    const { workspaceId, item } = await workspaceWith(count)
    await service.sql.unsafe('analyze changes')
    const times = ['2026-06-03T10:00:00.000Z', '2026-06-03T12:00:00.000Z']
    const [row] = await service.sql.unsafe<{ 'QUERY PLAN': [{ Plan: Node }] }[]>(
      `explain (analyze, format json) ${othersStatement}`,
      [workspaceId, 'production', ...times, [...occupyingStatuses], 'chg_self', [item], ''],
    )
    const nodes = row ? flat(row['QUERY PLAN'][0].Plan) : []
    expect(nodes.map((node) => node['Actual Rows'])).toEqual(nodes.map(() => 11))
    expect(nodes.flatMap((node) => node['Index Name'] ?? [])).toEqual(['changes_time_idx'])
  }
})
