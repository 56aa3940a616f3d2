import { ApiError, invalidTransition, type Principal, type Run, type TenantScope } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'
import { allowedRunActions } from '../engine/run-states.js'
import type { Awaiting } from '../engine/tasks.js'
import { mayDecide } from './approvals.js'
import { foldRun } from './folded-run.js'
import { loadJournals, originOf } from './loading.js'
import type { Presented } from './presented.js'
import { type FoundRun, findRun } from './queries.js'
import type { Runs } from './runs.js'
import { run } from './store/store.js'

type Caller = Pick<RequestMeta, 'tenant' | 'actor' | 'requestId' | 'now' | 'clientToken'> & {
  principal: Pick<Principal, 'userId' | 'role' | 'permissions'>
}

/**
 * Makes the caller the giver of a run, where the rights it has acted by have ended. Throws `forbidden` naming what is missing.
 */
export type TakeOverEnded = (run: { id: string; programRef: string }, caller: Caller) => Promise<void>

/** What people do to runs. Each throws `not_found`, or `invalid_state_transition` where the run is not in a state for it. */
export interface RunActions {
  cancel(runId: string, reason: string | null, caller: Caller): Promise<Run>
  /** Throws `forbidden` where its rights have ended and the caller has not all of them. */
  retry(runId: string, from: string | null, caller: Caller): Promise<Run>
  /** Throws `forbidden` for whoever the approval does not name. */
  resume(
    runId: string,
    decision: { step?: string | undefined; decision: 'approve' | 'reject'; comment?: string | undefined },
    caller: Caller,
  ): Promise<Run>
}

/** How long is waited for whoever works on a run to take up what it was sent. */
const takenUpMs = 10_000
const lookEveryMs = 25

export function createRunActions(sql: Database['sql'], runs: Runs, takeOverEnded: TakeOverEnded): RunActions {
  const shown = async (id: string, tenant: TenantScope) => (await findRun(sql, id, tenant)).shown

  async function present(
    found: FoundRun,
    action: string,
    { signal }: Pick<Presented, 'signal'>,
    caller: Caller,
    force: boolean,
  ) {
    const presented = { signal, actor: caller.actor, requestId: caller.requestId }
    const reception = await runs.present(found.identity.id, presented, force)
    if (reception === 'sent') await takenUp(sql, found.identity.id)
    if (reception === 'gone')
      throw new ApiError('version_conflict', 'The run has changed meanwhile. Try again.')
    const { shown: present } = await findRun(sql, found.identity.id, caller.tenant)
    if (reception === 'ignored') throw invalidTransition(action, present.status, present.allowedActions)
    return present
  }

  /** The approval it waits for that the caller means. */
  async function approvalOf(
    { identity, shown: { status } }: FoundRun,
    step: string | undefined,
  ): Promise<Awaiting> {
    const journal = (await loadJournals(sql, [identity.id])).get(identity.id)
    if (!journal) throw new Error(`${identity.id} has no journal`)
    const program = await runs.programs(journal.origin.programRef, identity.tenant)
    const folded = foldRun({ ...program, identity, ...journal })
    const awaited = folded.awaiting().filter(({ waiting }) => waiting.for === 'approval')
    const named = step === undefined ? awaited : awaited.filter(({ place }) => place === step)
    const [first, second] = named
    if (!first)
      throw invalidTransition(
        'resume',
        status,
        allowedRunActions(status).filter((action) => action !== 'resume'),
      )
    if (second) throw whichStep(awaited)
    return first
  }

  return {
    async cancel(runId, reason, caller) {
      const found = await findRun(sql, runId, caller.tenant)
      return present(
        found,
        'cancel',
        { signal: { kind: 'cancel', by: caller.actor.id, reason } },
        caller,
        true,
      )
    },
    async retry(runId, from, caller) {
      const found = await findRun(sql, runId, caller.tenant)
      const { shown: before } = found
      if (!before.allowedActions.includes('retry'))
        throw invalidTransition('retry', before.status, before.allowedActions, retryHint(before))
      const { programRef } = await originOf(sql, runId)
      await takeOverEnded({ id: runId, programRef }, caller)
      return present(found, 'retry', { signal: { kind: 'retry', by: caller.actor.id, from } }, caller, false)
    },
    async resume(runId, { step, decision, comment = null }, caller) {
      const found = await findRun(sql, runId, caller.tenant)
      const { task, waiting } = await approvalOf(found, step)
      if (waiting.for !== 'approval' || !mayDecide(waiting.approval, caller.principal))
        throw new ApiError('forbidden', 'This approval is for others to decide on.')
      const by = caller.principal.userId
      const signal = { kind: 'decision', task, decision: { by, decision, comment } } as const
      await present(found, 'resume', { signal }, caller, false)
      return shown(runId, caller.tenant)
    },
  }
}

/** What succeeded is not done again by a retry. */
const retryHint = ({ status, workflowId }: Run) =>
  status === 'completed' ? `Start another run with POST /workflows/${workflowId}/trigger.` : undefined

const whichStep = (awaited: readonly Awaiting[]) =>
  new ApiError('validation_failed', 'Several steps wait for approvals; say which.', {
    details: [
      {
        in: 'body',
        path: '/step',
        code: 'required',
        message: `must be one of ${awaited.map(({ place }) => place).join(', ')}`,
      },
    ],
  })

/** Waits until whoever works on the run has taken up its inbox. */
async function takenUp(sql: Database['sql'], runId: string): Promise<void> {
  const until = performance.now() + takenUpMs
  while (performance.now() < until) {
    const rows = await run(sql, 'select 1 from run_signals where run_id = $1 limit 1', [runId])
    if (rows.length === 0) return
    await delay(lookEveryMs)
  }
  throw new ApiError('service_unavailable', 'The run could not take this up yet. It will.')
}
