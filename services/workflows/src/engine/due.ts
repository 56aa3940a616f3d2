import type { ApprovalDecision, Entry } from './history.js'
import type { RunMemory, StepRun } from './memory.js'
import { completeStep, endPartAfter, failPermanently, type StepDecision } from './outcomes.js'
import type { Program } from './program.js'

/** Decides on elapsed time: handles the timer that has been due longest. */
export function tick(program: Program, memory: RunMemory, now: number): Entry[] {
  const { next } = memory.timers
  if (next === undefined || next.at > now) return []
  return next.subject === 'deadline'
    ? expired(program, memory)
    : due({ program, memory, now, step: next.subject })
}

function expired(program: Program, memory: RunMemory): Entry[] {
  const message = `The run exceeded ${program.timeoutMs / 1_000} s.`
  const outcome = {
    kind: 'failed',
    place: '',
    error: { code: 'run_timeout', message, retryable: false },
  } as const
  return [outcome, ...endPartAfter(program, memory, outcome)]
}

function due(context: StepDecision): Entry[] {
  const { step, now } = context
  const { state, place } = step
  if (state.kind === 'delayed') return [{ kind: 'retry_due', place, attempt: state.attempt }]
  if (state.kind !== 'waiting') return []
  const { waiting } = state
  switch (waiting.for) {
    case 'time':
      return completeStep(context, { at: new Date(now).toISOString() })
    case 'event':
      return failPermanently(context, 'wait_timeout', 'No such event came in time.')
    case 'approval':
      if (waiting.dueAt !== null && waiting.dueAt <= now) return approvalExpired(context)
      return [{ kind: 'reminded', place, remindAt: nextReminder(step, now, waiting.dueAt) }]
    case 'run':
      return []
  }
}

/** The approval was not decided in time. */
export function approvalExpired(context: StepDecision): Entry[] {
  const { state } = context.step
  const decisions = state.kind === 'waiting' ? state.decisions : []
  return settleUnapproved(context, { expired: true, decisions })
}

/** Without approval the step fails, unless the definition has a branch for this case. */
export function settleUnapproved(
  context: StepDecision,
  { expired, decisions }: { expired: boolean; decisions: readonly ApprovalDecision[] },
): Entry[] {
  const { program, step } = context
  if (program.judged.has(step.node.id)) return completeStep(context, { approved: false, expired, decisions })
  const [code, message] = expired
    ? ['approval_expired', 'The approval was not decided in time.']
    : ['approval_rejected', 'The approval was rejected.']
  return failPermanently(context, code, message, { decisions })
}

/** When approvers who have not decided are reminded next; `null` if that would be after the deadline. */
export function nextReminder({ node }: StepRun, now: number, dueAt: number | null): number | null {
  if (node.step.type !== 'approval' || node.step.reminderSeconds === undefined) return null
  const at = now + node.step.reminderSeconds * 1_000
  return dueAt !== null && at >= dueAt ? null : at
}
