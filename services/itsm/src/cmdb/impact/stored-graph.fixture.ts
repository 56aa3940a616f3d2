import type { TestService } from '@opsplane/testing'
import type { SampleGraph } from './sample-graphs.fixture.js'

const createdAt = '2026-03-02T09:00:00.000Z'

/** Writes the rows of a graph as the event store would, thousands at a time, without the events. */
export async function writeGraph(
  sql: TestService['sql'],
  workspaceId: string,
  graph: SampleGraph,
): Promise<void> {
  const rowOf = (state: { id: string }) => ({
    ...{ id: state.id, workspace_id: workspaceId, environment: 'production', version: 1 },
    state: { ...state, createdAt, updatedAt: createdAt },
  })
  for (const [table, states] of [
    ['configuration_items', graph.nodes],
    ['ci_relations', graph.relations],
  ] as const) {
    const rows = JSON.stringify(states.map(rowOf))
    await sql.unsafe(
      `insert into ${table} (id, workspace_id, environment, version, state)
       select id, workspace_id, environment, version, state
         from json_to_recordset($1::text::json) as r(id text, workspace_id text, environment text, version int, state json)`,
      [rows],
    )
  }
}
