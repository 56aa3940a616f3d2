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
  causeHeader,
  type DepthsAfter,
  maxCausationDepth,
  readJson,
  type ServiceClient,
  tooDeep,
  type VerifyCause,
} from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import type { Runs } from '../run/runs.js'
import { statusAfter } from '../workflow/transitions.js'
import { type Candidate, workflowOfHook } from './active.js'
import { isSignedBy } from './signature.js'
import type { Starting } from './starting.js'
import { answerOf } from './wait.js'

/** A call of an inbound webhook. */
export interface HookCall {
  method: string
  body: Buffer
  header(name: string): string | undefined
  now: string
  requestId: string
  traceparent: string | undefined
  signal: AbortSignal
}

export interface Hooks {
  /**
   * Throws `not_found` for an address that starts nothing, `conflict` (`too_deep`) for what runs have caused too often, `invalid_state_transition` (`owner_rights`) for one of a suspended
   * workflow, `unauthenticated` for a missing or wrong signature.
   */
  call(hookId: string, call: HookCall, waitSeconds: number): Promise<TriggeredRun>
}

export interface HooksOptions {
  database: Database
  starting: Starting
  runs: Pick<Runs, 'waitForEnd'>
  settings: Pick<ServiceClient, 'post'>
  verifyCause: VerifyCause
  depthsAfter: DepthsAfter
}

type Signature = Extract<WorkflowTrigger, { type: 'webhook' }>['signature']

/** By which senders tell a repetition. */
const keyHeaders = ['idempotency-key', 'webhook-id', 'x-service-delivery', 'x-github-delivery']
/** What a run may see of a call. */
const shownHeaders = ['content-type', 'user-agent', 'x-github-event', 'x-service-event', ...keyHeaders]

export function createHooks({
  database,
  starting,
  runs,
  settings,
  verifyCause,
  depthsAfter,
}: HooksOptions): Hooks {
  /** The secret as its owner may use it at this moment. */
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

  /** How many runs and executions have caused a call that names its cause. */
  const depthFrom = async (cause: string | null) => {
    if (cause === null) return 0
    const event = { resource: { id: cause }, causationId: null }
    return (await depthsAfter([event]))(event)
  }

  return {
    async call(hookId, call, waitSeconds) {
      const workflow = await workflowOfHook(database, hookId)
      if (workflow?.state.trigger?.type !== 'webhook') throw notFound()
      statusAfter('trigger', workflow.state)
      await checkSignature(workflow, workflow.state.trigger.signature, call)
      const cause = verifyCause(call.header(causeHeader))
      const depth = await depthFrom(cause)
      const key = keyHeaders.map(call.header).find((value) => value !== undefined && value !== '')
      const started = await starting.start(workflow.tenant, workflow.state, {
        type: 'webhook',
        id: key === undefined ? newId('request') : sha256Hex(key),
        at: call.now,
        event: eventOf(call),
        input: null,
        ...{ depth, requestId: call.requestId, causationId: cause },
        traceparent: call.traceparent,
      })
      if (started === null) throw depth > maxCausationDepth ? tooDeep() : notFound()
      return answerOf(runs, started, waitSeconds, call.signal)
    },
  }
}

function eventOf({ method, body, header }: HookCall) {
  const headers = Object.fromEntries(
    shownHeaders.flatMap((name): [string, string][] => {
      const value = header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  return { method, headers, body: bodyOf(body, header('content-type') ?? '') }
}

/** JSON as it is, a form by its fields, everything else as text. */
function bodyOf(body: Buffer, contentType: string): unknown {
  if (body.length === 0) return null
  const text = body.toString()
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType))
    return Object.fromEntries(new URLSearchParams(text))
  if (!/^application\/(?:json|[\w.+-]+\+json)\b/i.test(contentType)) return text
  return readJson(body)
}
