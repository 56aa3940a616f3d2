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
        'New runs are pinned to it; active runs stay with theirs. The caller becomes the owner, with whose rights runs ' +
        'act, and must have the permissions it needs (403, `permission_not_held`): to read the events it is started by or waits for, ' +
        '`secrets:use` where it refers to secrets, those of its steps and the operations they call, and its own ' +
        '`permissions`. Runs act with these alone. A draft with problems is refused with all of them (422), as where it names ' +
        'something that is not there. Emits `workflow.published`, and `workflow.activated` with `activate`.',
      body: PublishWorkflow,
      errors: ['invalid_state_transition', 'forbidden', 'step_up_required'],
      handler: ({ params, body, meta }) => workflows.publish(params.id, body, meta),
    }),

    route.action('activate', {
      response: Workflow,
      summary: 'Activate a workflow',
      description:
        'Its trigger starts runs: of events, from those accepted from now on. The caller becomes the owner and must have ' +
        'the permissions to publish the version (403, `permission_not_held`); so one call takes over a workflow that is ' +
        'suspended (`owner_rights`). Emits `workflow.activated`, or nothing where it is active with the rights of the caller.',
      errors: ['invalid_state_transition', 'forbidden'],
      handler: ({ params, meta }) => workflows.activate(params.id, meta),
    }),

    route.action('deactivate', {
      response: Workflow,
      summary: 'Deactivate a workflow',
      description:
        'Its trigger starts no more runs; active runs continue. Emits `workflow.deactivated`, or nothing where it is ' +
        'inactive.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) =>
        workflows.aggregate.handle(params.id, { kind: 'deactivate', now: meta.now }, meta),
    }),

    route.action('rollback', {
      response: Workflow,
      summary: 'Roll back to a version',
      description:
        'New runs are pinned to that version. The caller becomes the owner and must have the permissions to publish it (403, ' +
        '`permission_not_held`). The draft stays. Emits `workflow.rolled_back`, or nothing where it is the current one with ' +
        'the rights of the caller.',
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
      description: 'It answers while the workflow is active and its trigger is a `webhook`.',
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
