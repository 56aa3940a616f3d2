import { type ApprovalStep, MomentOrDay, type WaitStep } from '@opsplane/contracts'
import { nextReminder } from './due.js'
import type { Entry } from './history.js'
import { completeStep, failPermanently, type StepDecision } from './outcomes.js'
import { toFields, toText } from './values.js'

const maxWaitMs = 365 * 86_400_000

/** The step waits until an instant, or for an event. */
export function wait(context: StepDecision, { event }: WaitStep, value: unknown): Entry[] {
  const { now, step } = context
  const { seconds, until, filter } = toFields(value)
  if (event) {
    const dueAt = now + event.timeoutSeconds * 1_000
    const { types } = event
    const conditions = filter === undefined ? null : toFields(filter)
    return [
      { kind: 'waiting', place: step.place, waiting: { for: 'event', types, filter: conditions, dueAt } },
    ]
  }
  const dueAt = until === undefined ? now + parseSeconds(seconds) * 1_000 : parseInstant(until)
  if (Number.isNaN(dueAt) || dueAt > now + maxWaitMs)
    return failPermanently(context, 'invalid_wait', unusable(until === undefined ? seconds : until))
  if (dueAt <= now) return completeStep(context, { at: new Date(now).toISOString() })
  return [{ kind: 'waiting', place: step.place, waiting: { for: 'time', dueAt } }]
}

/** Expressions embedded in text return strings. */
function parseSeconds(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
}

function parseInstant(value: unknown): number {
  const parsed = MomentOrDay.safeParse(value)
  return parsed.success ? Date.parse(parsed.data) : Number.NaN
}

const unusable = (value: unknown): string =>
  `${JSON.stringify(value)} is neither a number of seconds nor an instant in ISO 8601, within a year.`

/** The step waits for approvers. It fails if the named users cannot reach the quorum, instead of waiting forever. */
export function awaitApproval(context: StepDecision, definition: ApprovalStep, value: unknown): Entry[] {
  const { now, step } = context
  const { title, message, data, users: named } = toFields(value)
  const { approvers, quorum, deadlineSeconds } = definition
  const users = [...new Set((Array.isArray(named) ? named.flat() : []).map(toText))].filter((id) => id !== '')
  if (approvers.roles.length === 0 && users.length < quorum)
    return failPermanently(
      context,
      'too_few_approvers',
      `It takes ${quorum} to approve; named are ${users.length}.`,
    )
  const dueAt = deadlineSeconds === undefined ? null : now + deadlineSeconds * 1_000
  const remindAt = nextReminder(step, now, dueAt)
  const { roles } = approvers
  const approval = { title: toText(title), message: toText(message), data, users, roles, quorum }
  return [{ kind: 'waiting', place: step.place, waiting: { for: 'approval', approval, dueAt, remindAt } }]
}
