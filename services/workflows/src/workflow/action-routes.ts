import { newId, PublishWorkflow, RollbackWorkflow, Workflow, WorkflowHook } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { route, tag } from './routes.js'
import { toHook, type Workflows } from './workflows.js'

/** Routes that change the status or version of a workflow. */
export function workflowActionRoutes(workflows: Workflows): Route[] {
  return [
    route.action('publish', {
      response: Workflow,
      summary: 'Publish the draft as a version',
      description:
        'New runs use the new version; active runs keep theirs. The caller becomes the owner, with whose rights runs ' +
        'act, and must hold the permissions the workflow requires (403, `permission_not_held`): to read the events ' +
        'that start it or that it waits for, `secrets:use` if it refers to secrets, those of its steps and of the ' +
        'operations they call, and its own `permissions`. Runs act with these permissions only. A draft with ' +
        'problems, such as a reference to a resource that does not exist, is refused, and the error lists all of ' +
        'them (422). Emits `workflow.published`, and `workflow.activated` with `activate`.',
      body: PublishWorkflow,
      errors: ['invalid_state_transition', 'forbidden', 'step_up_required'],
      handler: ({ params, body, meta }) => workflows.publish(params.id, body, meta),
    }),

    route.action('activate', {
      response: Workflow,
      summary: 'Activate a workflow',
      description:
        'The trigger of the workflow starts runs; an event trigger starts them for events accepted from now on. The ' +
        'caller becomes the owner and must hold the permissions required to publish the version (403, ' +
        '`permission_not_held`); the same call therefore takes over a suspended workflow (`owner_rights`). Emits ' +
        '`workflow.activated`, or no event if the workflow is already active with the rights of the caller.',
      errors: ['invalid_state_transition', 'forbidden'],
      handler: ({ params, meta }) => workflows.activate(params.id, meta),
    }),

    route.action('deactivate', {
      response: Workflow,
      summary: 'Deactivate a workflow',
      description:
        'The trigger of the workflow starts no more runs; active runs continue. Emits `workflow.deactivated`, or no ' +
        'event if the workflow is already inactive.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) =>
        workflows.aggregate.handle(params.id, { kind: 'deactivate', now: meta.now }, meta),
    }),

    route.action('rollback', {
      response: Workflow,
      summary: 'Roll back a workflow to a version',
      description:
        'New runs use that version. The caller becomes the owner and must hold the permissions required to publish ' +
        'it (403, `permission_not_held`). The draft does not change. Emits `workflow.rolled_back`, or no event if ' +
        'that version is already the current one with the rights of the caller.',
      body: RollbackWorkflow,
      errors: ['invalid_state_transition', 'forbidden'],
      handler: ({ params, body, meta }) => workflows.rollback(params.id, body.to, meta),
    }),

    defineRoute({
      operationId: 'getWorkflowHook',
      method: 'get',
      path: '/workflows/:id/hook',
      tag,
      scope: 'workflows:write',
      summary: 'Get the address of the inbound webhook',
      description: 'The address accepts calls while the workflow is active and its trigger is a `webhook`.',
      response: WorkflowHook,
      handler: async ({ params, meta }) => toHook(await workflows.record(params.id, meta.tenant)),
    }),

    route.action('hook/rotate', {
      operationId: 'rotateWorkflowHook',
      summary: 'Rotate the address of the inbound webhook',
      description: 'The old address stops working immediately. Emits `workflow.hook_rotated`.',
      response: WorkflowHook,
      errors: ['invalid_state_transition'],
      ifMatch: true,
      handler: ({ params, meta }) => workflows.rotateHook(params.id, newId('hook'), meta),
    }),
  ]
}
