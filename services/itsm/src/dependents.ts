import type { DependentKind } from '@opsplane/contracts'
import type { DependentsOfKind } from '@opsplane/service'
import { z } from 'zod'

interface Assigned {
  kind: DependentKind
  table: string
  /** Statuses in which no work is left. */
  ended: readonly string[]
  path: string
}

const assigned = ({ kind, table, ended, path }: Assigned): DependentsOfKind => ({
  kind,
  query: `select id, (state->>'number') || ' ' || (state->>'title') as name, environment from ${table}
    where workspace_id = $1 and assignee_id = $2 and status not in (${ended.map((each) => `'${each}'`).join(', ')})
    order by id`,
  takeOver: ({ id }, { successorId }) => ({
    ...{ method: 'PATCH', path: `${path}/${id}`, body: { assigneeId: successorId } },
  }),
})

/** Unfinished work that is assigned to a person. */
export const dependents: readonly DependentsOfKind[] = [
  assigned({
    kind: 'incident',
    table: 'incidents',
    ended: ['resolved', 'closed', 'canceled'],
    path: '/itsm/incidents',
  }),
  assigned({ kind: 'problem', table: 'problems', ended: ['resolved', 'closed'], path: '/itsm/problems' }),
  assigned({
    kind: 'change',
    table: 'changes',
    ended: ['closed', 'canceled', 'rolled_back'],
    path: '/itsm/changes',
  }),
  {
    kind: 'catalog_task',
    query: `select t->>'id' as id, (r.state->>'number') || ' ' || (t->>'name') as name, r.environment, to_json(r.id) as more
      from catalog_requests r cross join json_array_elements(r.state->'tasks') t
      where r.workspace_id = $1 and r.assignee_ids ? $2 and t->>'assigneeId' = $2
        and t->>'status' in ('open', 'in_progress') order by t->>'id'`,
    takeOver: ({ id, more: requestId }, { successorId }) => ({
      method: 'PATCH',
      path: `/catalog/requests/${z.string().parse(requestId)}/tasks/${id}`,
      body: { assigneeId: successorId },
    }),
  },
]
