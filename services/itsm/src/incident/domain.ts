import {
  alreadyExists,
  type Decider,
  type IncidentCause,
  IncidentComment,
  type IncidentState,
  type Instant,
  type ItsmEventType,
  notFound,
} from '@opsplane/contracts'
import { recordAlert } from './alerts.js'
import type { CreateIncident, IncidentCommand, PatchIncident, StepCause } from './commands.js'
import { findCause, isCallerComment } from './comment/caller-comment.js'
import { followUpEvent } from './comment/post-closure-comment.js'
import { buildInitialIncident } from './initial-state.js'
import { decideMajor } from './major/major.js'
import { computeOutcome } from './outcomes.js'
import { childCountEvent } from './parent-child/parent-child.js'
import { patchStages, resolvePatch } from './patch.js'
import type { IncidentStep } from './steps.js'
import { statusAfter } from './transitions.js'
import { updateWatchers } from './watchers.js'

interface IncidentDecision {
  type: ItsmEventType
  after: IncidentState
  extras?: Record<string, unknown>
}

/**
 * All rules of an incident. `itsmEvents` lists its events;
 * `transitions` defines which action is allowed in which status.
 */
export const incident: Decider<IncidentState, IncidentCommand> = {
  resourceType: 'incident',
  table: 'incidents',
  decide,
  expose: (state) => state,
  describe: (state) => ({ displayName: state.title, number: state.number }),
  project: ({ extras }) =>
    extras?.comment === undefined ? [] : [commentRow(IncidentComment.parse(extras.comment))],
}

const commentRow = (comment: IncidentComment) => ({
  table: 'incident_comments',
  id: comment.id,
  state: comment,
})

function decide(command: IncidentCommand, state: IncidentState | null): IncidentDecision[] {
  if (command.kind === 'create') return create(command, state)
  if (state === null) throw notFound()
  if (command.kind === 'patch') return patch(command, state)
  if (command.kind === 'watch') return edit(updateWatchers(command, state), command.now, state)
  if (command.kind === 'alert') return edit(recordAlert(command, state), command.now, state)
  if (command.kind === 'follow_up') return [followUpEvent(command, state)]
  if (command.kind === 'major') return [decideMajor(command, state)]
  if (command.kind === 'attach' || command.kind === 'detach') return [childCountEvent(command, state)]
  const { kind, now, userId, cause = findCause(userId, kind, state), sla } = command
  const decision = applyStep(command, now, state, { cause, sla })
  return command.kind === 'comment' ? applyCallerReply(command, command.now, decision) : [decision]
}

/**
 * Creates the incident unassigned, so that an assignee given at creation also produces an `incident.assigned`
 * event.
 */
function create(command: CreateIncident, existing: IncidentState | null): IncidentDecision[] {
  if (existing !== null) throw alreadyExists('incident')
  const after = buildInitialIncident(command)
  const created: IncidentDecision = { type: 'incident.created', after }
  const assigneeId = command.input.assigneeId ?? null
  return assigneeId === null
    ? [created]
    : [created, applyStep({ kind: 'assign', assigneeId }, command.now, after)]
}

function edit(fields: Partial<IncidentState> | null, now: Instant, state: IncidentState): IncidentDecision[] {
  return fields === null ? [] : [applyStep({ kind: 'edit', fields }, now, state)]
}

/** Runs the stages in order, each on the result of the previous one, and merges adjacent `incident.updated` events. */
function patch(command: PatchIncident, state: IncidentState): IncidentDecision[] {
  const resolvedPatch = resolvePatch(command, state)
  const decisions: IncidentDecision[] = []
  let current = state
  for (const stage of patchStages) {
    const step = stage(resolvedPatch, current)
    if (step === null) continue
    const decision = applyStep(step, command.now, current, {
      cause: findCause(command.userId, step.kind, current),
    })
    if (decision.type === 'incident.updated' && decisions.at(-1)?.type === 'incident.updated') decisions.pop()
    decisions.push(decision)
    current = decision.after
  }
  return decisions
}

/**
 * A public comment of the caller resumes an incident that waits for the caller, and reopens a resolved one.
 */
function applyCallerReply(
  { comment, keepResolved }: CommentStep,
  now: Instant,
  decision: IncidentDecision,
): IncidentDecision[] {
  const { after } = decision
  if (comment.visibility !== 'public' || !isCallerComment(comment, after)) return [decision]
  if (after.holdReason === 'awaiting_caller')
    return [decision, applyStep({ kind: 'resume' }, now, after, { cause: 'caller' })]
  if (after.status !== 'resolved' || keepResolved) return [decision]
  return [
    decision,
    applyStep({ kind: 'reopen', reason: 'caller commented' }, now, after, { cause: 'caller' }),
  ]
}

type CommentStep = Extract<IncidentStep, { kind: 'comment' }>

/**
 * Applies one action: the status from the transition table and the fields it changes. Throws
 * invalid_state_transition.
 */
function applyStep(
  step: IncidentStep,
  now: Instant,
  state: IncidentState,
  { cause, sla }: StepCause = {},
): IncidentDecision {
  const status = statusAfter(step.kind, state.status, step.kind === 'reopen' ? step.to : undefined)
  const { changes, extras, ...outcome } = computeOutcome(step, now, state)
  const after: IncidentState = { ...state, ...changes, status, updatedAt: now }
  if (status !== 'on_hold') after.holdReason = null
  after.followsParent = followsParent(state, after, cause)
  const reported = { ...extras, ...(cause !== undefined && { cause }), ...(sla !== undefined && { sla }) }
  return { ...outcome, after, ...(Object.keys(reported).length > 0 && { extras: reported }) }
}

/**
 * A child follows its parent until it takes a step of its own,
 * is held for another reason, or changes or loses its parent.
 */
function followsParent(before: IncidentState, after: IncidentState, cause?: IncidentCause): boolean {
  if (after.parentId === null || after.parentId !== before.parentId) return false
  const { status, holdReason } = before
  if (after.status === status)
    return before.followsParent && (cause === 'parent' || after.holdReason === holdReason)
  return cause === 'parent' && (after.status === 'on_hold' || after.status === 'resolved')
}
