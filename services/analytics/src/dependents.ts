import type { DependentsOfKind } from '@opsplane/service'

/** What reads data by the rights of a person. */
export const dependents: readonly DependentsOfKind[] = [
  {
    kind: 'kpi',
    query: `select id, state->>'name' as name, environment from kpis
      where workspace_id = $1 and state->>'ownerId' = $2
        and coalesce(json_array_length(state->'suspendedFor'), 0) = 0 order by id`,
    takeOver: ({ id }) => ({ method: 'POST', path: `/analytics/kpis/${id}/take-over`, body: null }),
  },
  {
    kind: 'export',
    query: `select e.id, e.state->>'fileName' as name, e.environment from exports e
      join export_jobs j on j.id = e.id
      where e.workspace_id = $1 and j.owner->>'userId' = $2 and j.phase = 'write' order by e.id`,
    // Its file is for its owner alone.
    takeOver: () => null,
  },
]
