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
export function answerTask(deciding: StepDecision, signal: Extract<Signal, { task: string }>): Entry[] {
  const { state } = deciding.step
  switch (signal.kind) {
    case 'evaluated':
      return state.kind === 'ready' ? applyStepValues(deciding, signal.values) : []
    case 'performed':
      return concealing(performed(deciding, signal.outcome), signal.secrets)
    case 'child_started':
      return state.kind === 'starting' ? childStarted(deciding, signal.outcome) : []
    case 'child_ended':
      return waitsFor(deciding, 'run') ? concealing(settledBy(deciding, signal.outcome), signal.secrets) : []
    case 'event':
      return waitsFor(deciding, 'event') && !isConsumed(deciding, signal.event)
        ? completeStep(deciding, signal.event)
        : []
    case 'decision':
      return decided(deciding, signal.decision)
    default:
      return assertNever(signal)
  }
}

/** The first entry is that of the outcome. */
function concealing([first, ...rest]: Entry[], secrets: readonly string[] = []): Entry[] {
  if (!first) return []
  return secrets.length > 0 ? [{ ...first, secrets } as Entry, ...rest] : [first, ...rest]
}

const waitsFor = ({ step: { state } }: StepDecision, what: 'run' | 'event'): boolean =>
  state.kind === 'waiting' && state.waiting.for === what

function isConsumed({ memory }: StepDecision, event: unknown): boolean {
  const id = findEventId(event)
  return id !== null && memory.taken.has(id)
}

const settledBy = (deciding: StepDecision, outcome: Outcome): Entry[] =>
  outcome.ok ? completeStep(deciding, outcome.output) : failStep(deciding, outcome.error)

function performed(deciding: StepDecision, outcome: Outcome): Entry[] {
  const { state, place } = deciding.step
  if (state.kind !== 'performing') return []
  if (outcome.ok) return completeStep(deciding, outcome.output)
  const { error } = outcome
  const retryAt = computeRetryAt(deciding, state.attempt, error)
  const entry = { kind: 'attempt_failed', place, attempt: state.attempt, error, retryAt } as const
  return retryAt === null ? [entry, ...failStep(deciding, error)] : [entry]
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
  deciding: StepDecision,
  outcome: Extract<Signal, { kind: 'child_started' }>['outcome'],
): Entry[] {
  const { step } = deciding
  if (!outcome.ok) return failStep(deciding, outcome.error)
  const { runId } = outcome
  if (step.node.step.type === 'workflow' && !step.node.step.wait) return completeStep(deciding, { runId })
  const entry = { kind: 'waiting', place: step.place, waiting: { for: 'run', runId } } as const
  // If the surrounding frame is being closed, the run is not waited for.
  return [entry, ...(outermostClosing(step.row.frame) ? endRunAfter(deciding, { kind: 'cut' }) : [])]
}

/** Rejected by a single rejection, approved by the number of approvals in the quorum. A person decides once. */
function decided(deciding: StepDecision, decision: ApprovalDecision): Entry[] {
  const { step, now } = deciding
  if (step.state.kind !== 'waiting' || step.state.waiting.for !== 'approval') return []
  const { waiting, decisions: before } = step.state
  if (waiting.dueAt !== null && waiting.dueAt <= now) return approvalExpired(deciding)
  if (before.some(({ by }) => by === decision.by)) return []
  const decisions = [...before, decision]
  const entry = { kind: 'decided', place: step.place, decision } as const
  const approved = decision.decision === 'approve'
  if (!approved) return [entry, ...settleUnapproved(deciding, { expired: false, decisions })]
  if (decisions.length < waiting.approval.quorum) return [entry]
  return [entry, ...completeStep(deciding, { approved, expired: false, decisions })]
}
