import { PromoteWorkflow, WorkflowExport, WorkflowWithDraft } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { Portable } from './portable.js'
import { tag } from './routes.js'

/** Routes for export and promotion of workflows. */
export function portableRoutes(portable: Portable): Route[] {
  return [
    defineRoute({
      operationId: 'exportWorkflow',
      method: 'get',
      path: '/workflows/:id/export',
      summary: 'Export a workflow',
      description:
        'Returns the draft or a version of the workflow, with the names of the connectors and workflows it refers to ' +
        'by id.',
      tag,
      scope: 'workflows:read',
      query: z.object({ version: z.coerce.number().int().min(1).max(999_999_999).optional() }),
      response: WorkflowExport,
      handler: ({ params, query, meta }) => portable.export(params.id, query.version, meta.tenant),
    }),

    defineRoute({
      operationId: 'promoteWorkflow',
      method: 'post',
      path: '/workflows/:id/promote',
      summary: 'Promote a workflow to another environment',
      description:
        'The published version becomes the draft of the workflow with the same name in the other environment, which ' +
        'is created if needed. The draft is not published automatically. Connectors and workflows are matched by ' +
        'name; `problems` lists the missing ones. Emits `workflow.created` or `workflow.updated` there.',
      tag,
      scope: 'workflows:write',
      body: PromoteWorkflow,
      response: WorkflowWithDraft,
      ifMatch: false,
      idempotency: 'claim',
      errors: ['conflict', 'forbidden', 'step_up_required', 'invalid_state_transition', 'version_conflict'],
      handler: ({ params, body, meta }) => portable.promote(params.id, body.environment, meta),
    }),
  ]
}
