import { NewWorkflow, Workflow, WorkflowPatch, WorkflowStatus, WorkflowWithDraft } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import { workflows as table } from './tables.js'
import type { Workflows } from './workflows.js'

export const tag = 'Workflows'

const sortColumns = { createdAt: table.createdAt, updatedAt: table.updatedAt, name: table.name }

/** Reading, writing and archiving workflows. */
export function workflowRoutes({ database, cursors }: ServiceContext, workflows: Workflows): Route[] {
  return [
    defineList({
      operationId: 'listWorkflows',
      path: '/workflows',
      summary: 'List workflows',
      description: 'Without their definitions. Archived ones are listed only with `status=archived`.',
      tag,
      scope: 'workflows:read',
      query: z.object({ status: WorkflowStatus.optional(), triggerType: z.string().max(50).optional() }),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: Workflow,
      handler: ({ query: { limit, after, sort, status, triggerType }, binding, meta: { tenant } }) =>
        keysetPage(database.db, {
          table,
          tenant,
          where: [
            status === undefined ? ne(table.status, 'archived') : eq(table.status, status),
            triggerType === undefined ? undefined : eq(table.triggerType, triggerType),
          ],
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors, present: workflows.aggregate.present },
        }),
    }),

    defineRoute({
      operationId: 'createWorkflow',
      method: 'post',
      path: '/workflows',
      summary: 'Create a workflow',
      description:
        'Creates a draft, which starts nothing. `problems` lists what prevents publishing, with the step and a ' +
        'JSON pointer; `GET /workflows/schema` has the JSON Schema of definitions. Emits `workflow.created`.',
      tag,
      scope: 'workflows:write',
      body: NewWorkflow,
      response: WorkflowWithDraft,
      status: 201,
      errors: ['conflict', 'forbidden', 'step_up_required'],
      handler: ({ body, meta }) => workflows.create(body, meta),
    }),

    defineRoute({
      operationId: 'getWorkflow',
      method: 'get',
      path: '/workflows/:id',
      summary: 'Get a workflow with its draft',
      description: 'With `problems`, which prevent publishing the draft.',
      tag,
      scope: 'workflows:read',
      response: WorkflowWithDraft,
      // What a draft refers to may come and go.
      changesUnversioned: true,
      errors: ['not_found'],
      handler: ({ params, meta }) => workflows.get(params.id, meta),
    }),

    defineRoute({
      operationId: 'updateWorkflow',
      method: 'patch',
      path: '/workflows/:id',
      summary: 'Update a workflow',
      description:
        'The definition replaces the draft; the published version and its runs do not change. Emits ' +
        '`workflow.updated`, or nothing where nothing changes.',
      tag,
      scope: 'workflows:write',
      body: WorkflowPatch,
      response: WorkflowWithDraft,
      errors: [
        'not_found',
        'forbidden',
        'step_up_required',
        'invalid_state_transition',
        'precondition_failed',
        'version_conflict',
      ],
      handler: ({ params, body, meta }) => workflows.update(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'archiveWorkflow',
      method: 'delete',
      path: '/workflows/:id',
      summary: 'Archive a workflow',
      description:
        'It starts no more runs and is no longer listed; active runs finish, unless they are ' +
        'cancelled. Final. Emits `workflow.archived`.',
      tag,
      scope: 'workflows:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'invalid_state_transition', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await workflows.archive(params.id, meta)
      },
    }),
  ]
}
