import type { DependentsOfKind } from '@opsplane/service'
import { z } from 'zod'

const Standing = z.object({ status: z.string(), published: z.int() })

/** Workflows whose runs act with the rights of a person. */
export const dependentWorkflows: DependentsOfKind = {
  kind: 'workflow',
  query: `select id, name, environment,
      json_build_object('status', status, 'published', (state->>'publishedVersion')::int) as more
    from workflows where workspace_id = $1 and owner_id = $2 and status <> 'archived'
      and state->>'publishedVersion' is not null and state->>'deactivatedReason' is distinct from 'owner_rights' order by id`,
  takeOver({ id, more }) {
    const { status, published } = Standing.parse(more)
    // An inactive workflow remains inactive.
    return status === 'active'
      ? { method: 'POST', path: `/workflows/${id}/activate`, body: null }
      : { method: 'POST', path: `/workflows/${id}/rollback`, body: { to: published } }
  },
}

/** Runs that wait for an approval this person may decide. */
export const dependentApprovals: DependentsOfKind = {
  kind: 'approval',
  query: `select distinct a.run_id as id, r.workflow_name as name, a.environment from run_approvers a
    join runs r on r.id = a.run_id where a.workspace_id = $1 and a.approver = 'user:' || $2 order by a.run_id`,
  takeOver: () => null,
}
