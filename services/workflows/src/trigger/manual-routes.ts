import { newId, TestWorkflow, TriggeredRun, TriggerWorkflow } from '@opsplane/contracts'
import { computeRequestDepth, defineRoute, grantCallers, type Route } from '@opsplane/http'
import type { Runs } from '../run/runs.js'
import { parseRunInput } from '../workflow/check/input.js'
import type { Workflows } from '../workflow/workflows.js'
import { startOnce } from './start-once.js'
import { WaitQuery, waitForRun } from './wait-for-run.js'

const starting = {
  method: 'post',
  tag: 'Workflows',
  response: TriggeredRun,
  status: 202,
  waits: true,
  idempotency: 'repeat',
  query: WaitQuery,
} as const

const byHand = { event: null, causationId: null } as const

/** Routes that start runs manually. */
export function manualRoutes(workflows: Workflows, runs: Runs): Route[] {
  return [
    defineRoute({
      ...starting,
      operationId: 'triggerWorkflow',
      path: '/workflows/:id/trigger',
      summary: 'Start a run of a workflow',
      description:
        'Runs the published version, whether or not the workflow is active, with the rights of its owner and within ' +
        'the row rules of the caller. Refused while the workflow is suspended (409, `owner_rights`). With `wait`, ' +
        'the response contains the output if the run ends in time. Emits `workflow.run_started`.',
      scope: 'workflows:run',
      body: TriggerWorkflow,
      errors: ['invalid_state_transition'],
      handler: async ({ params, query, body, meta }) => {
        const { tenant, actor, requestId, traceparent, now, signal } = meta
        const depth = computeRequestDepth(meta)
        const workflow = await workflows.published(params.id, tenant)
        const { definition } = await workflows.versions.load(workflow.programRef, tenant)
        const input = parseRunInput(definition, body.input)
        const trigger = { type: 'manual', id: null, at: now }
        const by = { actor, requestId, traceparent, depth, callers: grantCallers(meta.principal) }
        const request = { ...byHand, tenant, workflow, trigger, input, ...by }
        const started = await startOnce(runs, request, { meta, body })
        return waitForRun(runs, started, query.wait, signal())
      },
    }),

    defineRoute({
      ...starting,
      operationId: 'testWorkflow',
      path: '/workflows/:id/test',
      summary: 'Run the draft of a workflow',
      description:
        'Runs the unpublished draft as version 0, with the rights of the caller. Pinned steps are not executed; ' +
        'their output is the pinned value. All other steps have their real effects. A draft with problems is ' +
        'refused, and the error lists all of them (422).',
      scope: 'workflows:write',
      body: TestWorkflow,
      errors: ['invalid_state_transition', 'forbidden', 'step_up_required'],
      handler: async ({ params, query, body, meta }) => {
        const { tenant, actor, requestId, traceparent, now, signal } = meta
        const depth = computeRequestDepth(meta)
        const { definition, ...workflow } = await workflows.pinDraft(
          params.id,
          newId('request'),
          body.pins,
          meta,
        )
        const input = parseRunInput(definition, body.input)
        const trigger = { type: 'manual', id: null, at: now }
        const event = body.event ?? null
        const by = { actor, requestId, traceparent, depth }
        const request = { ...byHand, tenant, workflow, trigger, input, event, ...by }
        const started = await startOnce(runs, request, { meta, body })
        return waitForRun(runs, started, query.wait, signal())
      },
    }),
  ]
}
