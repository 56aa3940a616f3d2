import type { DependentsOfKind } from '@opsplane/service'

/** Resources that read data with the rights of a person. */
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
    // The file is only for the owner of the export.
    takeOver: () => null,
  },
]
