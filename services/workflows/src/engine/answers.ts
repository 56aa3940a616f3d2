import { assertNever } from '@opsplane/contracts'
import { retryDelayMs } from '@opsplane/runtime'
import { applyStepValues } from './apply-step-values.js'
import { approvalExpired, settleUnapproved } from './due.js'
import type { ApprovalDecision, Entry, StepError } from './history.js'
import { outermostClosing } from './moves.js'
import { completeStep, endRunAfter, failStep, type StepDecision } from './outcomes.js'
import type { Outcome, Signal } from './signal.js'
import { findEventId } from './values.js'

/** Decides on a task's outcome. An outcome that does not fit the state of its step changes nothing. */
export function answerTask(context: StepDecision, signal: Extract<Signal, { task: string }>): Entry[] {
  const { state } = context.step
  switch (signal.kind) {
    case 'evaluated':
      return state.kind === 'ready' ? applyStepValues(context, signal.values) : []
    case 'performed':
      return concealing(performed(context, signal.outcome), signal.secrets)
    case 'child_started':
      return state.kind === 'starting' ? childStarted(context, signal.outcome) : []
    case 'child_ended':
      return waitsFor(context, 'run') ? concealing(settledBy(context, signal.outcome), signal.secrets) : []
    case 'event':
      return waitsFor(context, 'event') && !isConsumed(context, signal.event)
        ? completeStep(context, signal.event)
        : []
    case 'decision':
      return decided(context, signal.decision)
    default:
      return assertNever(signal)
  }
}

/** The first entry is that of the outcome. */
function concealing([first, ...rest]: Entry[], secrets: readonly string[] = []): Entry[] {
  if (!first) return []
  return secrets.length > 0 ? [{ ...first, secrets } as Entry, ...rest] : [first, ...rest]
}

const waitsFor = ({ step: { state } }: StepDecision, kind: 'run' | 'event'): boolean =>
  state.kind === 'waiting' && state.waiting.for === kind

function isConsumed({ memory }: StepDecision, event: unknown): boolean {
  const id = findEventId(event)
  return id !== null && memory.taken.has(id)
}

const settledBy = (context: StepDecision, outcome: Outcome): Entry[] =>
  outcome.ok ? completeStep(context, outcome.output) : failStep(context, outcome.error)

function performed(context: StepDecision, outcome: Outcome): Entry[] {
  const { state, place } = context.step
  if (state.kind !== 'performing') return []
  if (outcome.ok) return completeStep(context, outcome.output)
  const { error } = outcome
  const retryAt = computeRetryAt(context, state.attempt, error)
  const entry = { kind: 'attempt_failed', place, attempt: state.attempt, error, retryAt } as const
  return retryAt === null ? [entry, ...failStep(context, error)] : [entry]
}

/** Returns `null` if there is no further attempt: by the retry policy, or because the surrounding frame has failed. */
function computeRetryAt(
  { program, step, now }: StepDecision,
  attempt: number,
  error: StepError,
): number | null {
  const { step: definition } = step.node
  const policy = ('retry' in definition ? definition.retry : undefined) ?? program.definition.retry
  if (!policy || !error.retryable || attempt >= policy.attempts || outermostClosing(step.row.frame))
    return null
  const maxMs = policy.maxDelaySeconds * 1_000
  const baseMs = policy.delaySeconds * 1_000
  const delayMs = retryDelayMs({ attempt, strategy: policy.strategy, baseMs, maxMs })
  return now + Math.max(delayMs, Math.min(error.retryAfterMs ?? 0, maxMs))
}

function childStarted(
  context: StepDecision,
  outcome: Extract<Signal, { kind: 'child_started' }>['outcome'],
): Entry[] {
  const { step } = context
  if (!outcome.ok) return failStep(context, outcome.error)
  const { runId } = outcome
  if (step.node.step.type === 'workflow' && !step.node.step.wait) return completeStep(context, { runId })
  const entry = { kind: 'waiting', place: step.place, waiting: { for: 'run', runId } } as const
  // If the surrounding frame is being closed, the run is not waited for.
  return [entry, ...(outermostClosing(step.row.frame) ? endRunAfter(context, { kind: 'cut' }) : [])]
}

/** Rejected by a single rejection, approved by the number of approvals in the quorum. A person decides once. */
function decided(context: StepDecision, decision: ApprovalDecision): Entry[] {
  const { step, now } = context
  if (step.state.kind !== 'waiting' || step.state.waiting.for !== 'approval') return []
  const { waiting, decisions: before } = step.state
  if (waiting.dueAt !== null && waiting.dueAt <= now) return approvalExpired(context)
  if (before.some(({ by }) => by === decision.by)) return []
  const decisions = [...before, decision]
  const entry = { kind: 'decided', place: step.place, decision } as const
  const approved = decision.decision === 'approve'
  if (!approved) return [entry, ...settleUnapproved(context, { expired: false, decisions })]
  if (decisions.length < waiting.approval.quorum) return [entry]
  return [entry, ...completeStep(context, { approved, expired: false, decisions })]
}
