import type { DependentsOfKind } from '@opsplane/service'

/** Resources that run artifacts with the rights of a person. */
export const dependents: readonly DependentsOfKind[] = [
  {
    kind: 'pack',
    query: `select id, state->>'name' as name, environment from packs
      where workspace_id = $1 and owner_id = $2 and status = 'active' order by id`,
    takeOver: ({ id }) => ({ method: 'POST', path: `/sdk/packs/${id}/take-over`, body: null }),
  },
  {
    kind: 'scheduled_job',
    query: `select id, state->>'name' as name, environment from jobs
      where workspace_id = $1 and owner_id = $2 and state->>'status' = 'active' order by id`,
    takeOver: ({ id }) => ({ method: 'POST', path: `/sdk/scheduled-jobs/${id}/resume`, body: null }),
  },
]
