import {
  ApiError,
  type Decider,
  IncidentComment,
  IncidentState,
  type Instant,
  type ItsmEventType,
  notFound,
} from '@opsplane/contracts'
import { alerted } from './alerts.js'
import type { CreateIncident, IncidentCommand, IncidentStep, PatchIncident } from './commands.js'
import { opened } from './opened.js'
import { outcomeOf } from './outcomes.js'
import { patchStages, wantedBy } from './patch.js'
import { statusAfter } from './transitions.js'
import { watched } from './watchers.js'

interface IncidentDecision {
  type: ItsmEventType
  after: IncidentState
  extras?: Record<string, unknown>
}

/** Every rule of an incident. Its events are `itsmEvents`; which action applies when is `transitions`. */
export const incident: Decider<IncidentState, IncidentCommand> = {
  resourceType: 'incident',
  table: 'incidents',
  decide,
  expose: (state) => state,
  // Those from before the latest fields lack all of them.
  upcast: (stored) => ('alertCount' in stored ? stored : IncidentState.parse(stored)),
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
  if (command.kind === 'watch') return edit(watched(command, state), command.now, state)
  if (command.kind === 'alert') return edit(alerted(command, state), command.now, state)
  return resumedByCaller(command, take(command, command.now, state))
}

/** Created unassigned first: whoever listens for assignments hears of an assignee given at creation too. */
function create(command: CreateIncident, existing: IncidentState | null): IncidentDecision[] {
  if (existing !== null) throw new ApiError('conflict', 'An incident with this id exists already.')
  const after = opened(command)
  const created: IncidentDecision = { type: 'incident.created', after }
  const assigneeId = command.input.assigneeId ?? null
  return assigneeId === null ? [created] : [created, take({ kind: 'assign', assigneeId }, command.now, after)]
}

function edit(fields: Partial<IncidentState> | null, now: Instant, state: IncidentState): IncidentDecision[] {
  return fields === null ? [] : [take({ kind: 'edit', fields }, now, state)]
}

/** Runs the stages in order, each on what the one before left, and merges neighbouring plain updates. */
function patch(command: PatchIncident, state: IncidentState): IncidentDecision[] {
  const wanted = wantedBy(command, state)
  const decisions: IncidentDecision[] = []
  let current = state
  for (const stage of patchStages) {
    const step = stage(wanted, current)
    if (step === null) continue
    const decision = take(step, command.now, current)
    if (decision.type === 'incident.updated' && decisions.at(-1)?.type === 'incident.updated') decisions.pop()
    decisions.push(decision)
    current = decision.after
  }
  return decisions
}

/** An incident that waits for its caller goes on as soon as the caller answers in public. */
function resumedByCaller(
  command: IncidentStep & { now: Instant },
  decision: IncidentDecision,
): IncidentDecision[] {
  const { after } = decision
  const answered =
    command.kind === 'comment' &&
    command.comment.visibility === 'public' &&
    command.comment.author.id === after.callerId &&
    after.holdReason === 'awaiting_caller'
  return answered ? [decision, take({ kind: 'resume' }, command.now, after)] : [decision]
}

/** One action: where the table leads, plus what the action changes. Throws invalid_state_transition. */
function take(step: IncidentStep, now: Instant, state: IncidentState): IncidentDecision {
  const status = statusAfter(step.kind, state.status, step.kind === 'reopen' ? step.to : undefined)
  const { changes, ...outcome } = outcomeOf(step, now, state)
  const after = { ...state, ...changes, status, updatedAt: now }
  return { ...outcome, after: status === 'on_hold' ? after : { ...after, holdReason: null } }
}
