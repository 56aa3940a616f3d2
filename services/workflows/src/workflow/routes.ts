import { NewWorkflow, Workflow, WorkflowPatch, WorkflowStatus, WorkflowWithDraft } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import { workflows as table } from './tables.js'
import type { Workflows } from './workflows.js'

export const tag = 'Workflows'

export const route = defineResource({
  name: 'Workflow',
  path: '/workflows',
  tag,
  read: 'workflows:read',
  write: 'workflows:write',
  response: WorkflowWithDraft,
})

/** Routes for reading, writing and archiving workflows. */
export function workflowRoutes(ctx: ServiceContext, workflows: Workflows): Route[] {
  return [
    route.list({
      summary: 'List workflows',
      description:
        'Returns workflows without their definitions. Archived workflows are listed only with `status=archived`.',
      query: z.object({ status: WorkflowStatus.optional(), triggerType: z.string().max(50).optional() }),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: Workflow,
      handler: pageReader(ctx, {
        table,
        present: workflows.aggregate.present,
        select: ({ query: { status, triggerType } }) => ({
          where: [
            status === undefined ? ne(table.status, 'archived') : eq(table.status, status),
            triggerType === undefined ? undefined : eq(table.triggerType, triggerType),
          ],
        }),
      }),
    }),

    route.create({
      summary: 'Create a workflow',
      description:
        'Creates a draft, which does not start any runs. `problems` lists the problems that prevent publishing, each ' +
        'with the step and a JSON pointer; `GET /workflows/schema` returns the JSON Schema of definitions. Emits ' +
        '`workflow.created`.',
      body: NewWorkflow,
      errors: ['conflict', 'forbidden', 'step_up_required'],
      handler: ({ body, meta }) => workflows.create(body, meta),
    }),

    route.get({
      summary: 'Get a workflow',
      description:
        'Returns the workflow with its draft, and the `problems` that prevent publishing the draft.',
      // The response also depends on the resources the draft refers to, which may be created and deleted.
      changesUnversioned: true,
      handler: ({ params, meta }) => workflows.get(params.id, meta),
    }),

    route.update({
      summary: 'Update a workflow',
      description:
        'The definition replaces the draft; the published version and its runs do not change. Emits ' +
        '`workflow.updated`, or no event if nothing changes.',
      body: WorkflowPatch,
      errors: ['forbidden', 'step_up_required', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => workflows.update(params.id, body, meta),
    }),

    route.delete({
      operationId: 'archiveWorkflow',
      summary: 'Archive a workflow',
      description:
        'The workflow starts no more runs and is no longer listed; active runs finish, unless they are cancelled. ' +
        'Cannot be undone. Emits `workflow.archived`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => workflows.archive(params.id, meta),
    }),
  ]
}
