import {
  ApiError,
  invalidField,
  invalidTransition,
  type Principal,
  type RetryRun,
  type Run,
  type RunAction,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { parseTaskPlace } from '../engine/active-steps.js'
import { allowedRunActions } from '../engine/run-states.js'
import type { Signal } from '../engine/signal.js'
import type { TaskId } from '../engine/task.js'
import { type AwaitedApproval, awaitedApprovals, type Decider } from './approvals.js'
import { type FoundRun, findRun } from './queries.js'
import type { Runs } from './runs.js'

type Caller = Pick<RequestMeta, 'tenant' | 'actor' | 'requestId' | 'now' | 'clientToken'> & {
  principal: Pick<Principal, 'userId' | 'role' | 'permissions'>
}

/**
 * Makes the caller the giver (see `Givers`) of all those runs whose rights have ended, or of none. Throws `forbidden`
 * naming missing permissions.
 */
export type TransferRuns = (
  runs: readonly { id: string; programRef: string }[],
  caller: Caller,
) => Promise<void>

/** Commands on runs. Each throws `not_found`, or `invalid_state_transition` if the run's state does not allow it. */
export interface RunActions {
  cancel(runId: string, reason: string | null, caller: Caller): Promise<Run>
  /**
   * Throws `forbidden` if the rights of the run, or of a run it continues, have ended and the caller lacks some of
   * them.
   */
  retry(runId: string, how: RetryRun, caller: Caller): Promise<Run>
  /** Throws `forbidden` for a person the approval does not name. */
  resume(
    runId: string,
    decision: { step?: string | undefined; decision: 'approve' | 'reject'; comment?: string | undefined },
    caller: Caller,
  ): Promise<Run>
}

export function createRunActions(sql: Database['sql'], runs: Runs, transferRuns: TransferRuns): RunActions {
  /** `why`: returns a sentence on why the run ignored the signal, if its status does not explain that. */
  async function present(
    { identity: { id } }: FoundRun,
    command: { action: RunAction; signal: Signal; force?: boolean; why?(): Promise<string> },
    { actor, requestId, tenant }: Caller,
  ): Promise<Run> {
    const { action, signal, force = false, why } = command
    const signalResult = await runs.present(id, { signal, actor, requestId }, force)
    const { shown } = await findRun(sql, id, tenant)
    if (signalResult === 'changed') return shown
    const hint = shown.allowedActions.includes(action) ? await why?.() : undefined
    if (signalResult === 'ignored') throw invalidTransition(action, shown.status, shown.allowedActions, hint)
    throw new ApiError('version_conflict', 'The run was changed by another request. Read it, and try again.')
  }

  /** Finds the awaited approval the caller means. Throws `forbidden` if others have to decide on it. */
  async function approvalOf(
    { identity, shown: { status } }: FoundRun,
    step: string | undefined,
    decider: Decider,
  ): Promise<TaskId> {
    const awaited = await awaitedApprovals(sql, identity.id, decider)
    const matches = step === undefined ? awaited : awaited.filter(({ task }) => parseTaskPlace(task) === step)
    const [first, second] = matches
    if (!first) {
      const others = allowedRunActions(status).filter((action) => action !== 'resume')
      throw invalidTransition('resume', status, others, unawaited(step))
    }
    if (second) throw ambiguousStepError(awaited)
    if (!first.isFor) throw new ApiError('forbidden', 'You are not an approver of this step.')
    return first.task
  }

  return {
    cancel: async (runId, reason, caller) =>
      present(
        await findRun(sql, runId, caller.tenant),
        { action: 'cancel', signal: { kind: 'cancel', by: caller.actor.id, reason }, force: true },
        caller,
      ),

    async retry(runId, { from = null, newKey }, caller) {
      const found = await findRun(sql, runId, caller.tenant)
      const { shown: before } = found
      if (!before.allowedActions.includes('retry'))
        throw invalidTransition('retry', before.status, before.allowedActions, retryHint(before))
      const { definition } = await runs.programOf(found.identity)
      if (from !== null && definition.steps.every(({ id }) => id !== from))
        throw invalidField('/from', 'unknown_step', `There is no top-level step ${from}.`)
      const signal = { kind: 'retry', by: caller.actor.id, from, ...(newKey && { newKey }) } as const
      await transferRuns(await runs.findContinuedRuns(found.identity, signal), caller)
      const why = async () => (from === null ? 'It was retried before.' : `It has not come to step ${from}.`)
      return present(found, { action: 'retry', signal, why }, caller)
    },

    async resume(runId, { step, decision, comment = null }, caller) {
      const found = await findRun(sql, runId, caller.tenant)
      const task = await approvalOf(found, step, caller.principal)
      const by = caller.principal.userId
      const signal = { kind: 'decision', task, decision: { by, decision, comment } } as const
      const why = async () => {
        const awaited = await awaitedApprovals(sql, runId, caller.principal)
        return awaited.some((each) => each.task === task)
          ? 'You have decided on this approval before.'
          : unawaited(parseTaskPlace(task))
      }
      return present(found, { action: 'resume', signal, why }, caller)
    },
  }
}

const unawaited = (step: string | undefined) =>
  step === undefined ? 'No approval is awaited.' : `No approval of step ${step} is awaited.`

/** A retry does not repeat successful steps. */
const retryHint = ({ status, workflowId }: Run) =>
  status === 'completed' ? `Start another run with POST /workflows/${workflowId}/trigger.` : undefined

const ambiguousStepError = (awaited: readonly AwaitedApproval[]) =>
  new ApiError('validation_failed', 'Several steps wait for approvals. Name the step.', {
    details: [
      {
        in: 'body',
        path: '/step',
        code: 'required',
        message: `must be one of ${awaited.map(({ task }) => parseTaskPlace(task)).join(', ')}`,
      },
    ],
  })
