import {
  ApiError,
  hookHost,
  newId,
  notFound,
  ResolvedSecrets,
  type TriggeredRun,
  type WorkflowTrigger,
} from '@opsplane/contracts'
import {
  causationTooDeep,
  causeHeader,
  type DepthsAfter,
  maxCausationDepth,
  type ServiceClient,
  type VerifyCause,
} from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import type { Runs } from '../run/runs.js'
import { statusAfter } from '../workflow/transitions.js'
import { type Candidate, findHookWorkflow } from './active-workflows.js'
import { type HookCall, hookEvent, keyHeaders } from './hook-event.js'
import { isSignedBy } from './signature.js'
import type { TriggerStarter } from './trigger-starter.js'
import { waitForRun } from './wait-for-run.js'

export interface Hooks {
  /**
   * Throws `not_found` for an address that starts nothing, `conflict` (`too_deep`) if the chain of causes is too long,
   * `invalid_state_transition` (`owner_rights`) for a suspended workflow, `unauthenticated` for a missing or wrong
   * signature, and `upstream_error` if a run that was waited for has not completed.
   */
  call(hookId: string, call: HookCall, waitSeconds: number): Promise<TriggeredRun>
}

export interface HooksOptions {
  database: Database
  starting: TriggerStarter
  runs: Pick<Runs, 'waitForRest'>
  settings: Pick<ServiceClient, 'post'>
  verifyCause: VerifyCause
  depthsAfter: DepthsAfter
}

type Signature = Extract<WorkflowTrigger, { type: 'webhook' }>['signature']

export function createHooks({
  database,
  starting,
  runs,
  settings,
  verifyCause,
  depthsAfter,
}: HooksOptions): Hooks {
  /** The secret, if the owner may currently use it. */
  const secretOf = async ({ tenant, state }: Candidate, name: string) => {
    const { values } = await settings.post(
      '/internal/secrets/resolve',
      {
        ...{ workspaceId: tenant.workspaceId, environment: tenant.environment, names: [name] },
        ...{ host: hookHost, userId: state.ownerId ?? '', consumer: `workflow/${state.id}` },
      },
      ResolvedSecrets,
    )
    return values[name]
  }

  const checkSignature = async (workflow: Candidate, signature: Signature, { body, header }: HookCall) => {
    if (!signature) return
    const secret = await secretOf(workflow, signature.secret)
    if (secret !== undefined && isSignedBy(secret, body, signature, header(signature.header))) return
    throw new ApiError('unauthenticated', `${signature.header} is not the signature of the body.`)
  }

  /** Number of runs and executions in the chain of causes of a call that names its cause. */
  const depthFrom = async (cause: string | null) => {
    if (cause === null) return 0
    const event = { resource: { id: cause }, causationId: null }
    return (await depthsAfter([event]))(event)
  }

  return {
    async call(hookId, call, waitSeconds) {
      const workflow = await findHookWorkflow(database, hookId)
      const trigger = workflow?.state.trigger
      if (!workflow || trigger?.type !== 'webhook') throw notFound()
      statusAfter('trigger', workflow.state)
      await checkSignature(workflow, trigger.signature, call)
      const cause = verifyCause(call.header(causeHeader))
      const depth = await depthFrom(cause)
      const key = keyHeaders.map(call.header).find((value) => value !== undefined && value !== '')
      const started = await starting.start(workflow.tenant, workflow.state, {
        type: 'webhook',
        id: key === undefined ? newId('request') : sha256Hex(key),
        at: call.now,
        event: hookEvent(trigger, call),
        input: null,
        ...{ depth, requestId: call.requestId, causationId: cause },
        traceparent: call.traceparent,
      })
      if (started === null) throw depth > maxCausationDepth ? causationTooDeep() : notFound()
      return succeeded(await waitForRun(runs, started, waitSeconds, call.signal))
    },
  }
}

/** To the sender, a run that has not completed is a failed call. */
function succeeded(answer: TriggeredRun): TriggeredRun {
  const { runId, ended, status, error } = answer
  if (!ended || status === 'completed') return answer
  const message = `The run ${runId} has ended with status ${status}: ${error?.message ?? 'it has no result'}`
  const detail = {
    in: 'query',
    path: '/wait',
    code: error?.code ?? 'cancelled',
    message,
    params: { runId },
  } as const
  throw new ApiError('upstream_error', message, { details: [detail] })
}
