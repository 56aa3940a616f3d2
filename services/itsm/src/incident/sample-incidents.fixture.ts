import {
  type Actor,
  defaultPriorityMatrix,
  type IncidentComment,
  type IncidentState,
  type IncidentStatus,
} from '@opsplane/contracts'
import type { CreateIncident, IncidentSettings } from './commands.js'
import { incident } from './domain.js'
import type { IncidentStep } from './steps.js'

/** Sample incidents, each built by applying commands. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'
export const agent: Actor = { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada', type: 'user' }

export const settings: IncidentSettings = { priorityMatrix: defaultPriorityMatrix, resolutionRequired: false }

export const create: CreateIncident = {
  kind: 'create',
  id: 'inc_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'INC-1',
  by: agent,
  now: createdAt,
  settings,
  input: {
    title: 'Checkout answers 502',
    severity: 'medium',
    impact: 'medium',
    urgency: 'medium',
    tags: [],
    watcherIds: [],
  },
}

export const comment: IncidentComment = {
  id: 'cmt_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  incidentId: create.id,
  body: 'Looking at it.',
  visibility: 'public',
  author: agent,
  userId: agent.id,
  createdAt: now,
  updatedAt: now,
}

/** One sample of each action. */
export const steps: { [Kind in IncidentStep['kind']]: IncidentStep } = {
  edit: { kind: 'edit', fields: { title: 'Checkout answers 503' } },
  assign: { kind: 'assign', assigneeId: agent.id },
  escalate: { kind: 'escalate', severity: 'critical' },
  comment: { kind: 'comment', comment },
  start: { kind: 'start' },
  hold: { kind: 'hold', holdReason: 'awaiting_vendor' },
  resume: { kind: 'resume' },
  resolve: { kind: 'resolve', resolutionCode: 'fixed', resolutionNotes: 'Raised the pool limit.' },
  reopen: { kind: 'reopen' },
  close: { kind: 'close' },
  cancel: { kind: 'cancel' },
}

function after(...path: IncidentStep[]): IncidentState {
  let state = incident.decide(create, null).at(-1)?.after ?? null
  for (const step of path) state = incident.decide({ ...step, now: createdAt }, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

export const incidents: Record<IncidentStatus, IncidentState> = {
  open: after(),
  in_progress: after(steps.start),
  on_hold: after(steps.hold),
  resolved: after(steps.resolve),
  closed: after(steps.resolve, steps.close),
  canceled: after(steps.cancel),
}
