import { deepStrictEqual } from 'node:assert/strict'
import { describe, it } from '@jest/globals'
import {
  type IncidentPatch,
  type IncidentState,
  type IncidentStatus,
  incidentStatuses,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { incident } from './domain.js'
import { agent, incidents, now } from './sample-incidents.js'

const { given } = specify(incident)
const { open, in_progress: inProgress, on_hold: onHold, resolved, closed } = incidents
const patching = (state: IncidentState, patch: IncidentPatch) =>
  given(state).when({ kind: 'patch', patch, now })

const updated = (changes: Partial<IncidentState>) => ({
  type: 'incident.updated',
  changes: { ...changes, updatedAt: now },
})

describe('fields', () => {
  it('emits one update for all plain fields', () => {
    const fields = {
      title: 'Cart is empty',
      description: null,
      category: 'cart',
      tags: ['a', 'b'],
      ciId: 'ci_1',
    }
    patching(open, fields).emits(updated(fields))
  })

  it.each([
    ['an empty patch', {}],
    ['the values it has', { title: open.title, severity: open.severity, tags: [], description: null }],
    ['the status it has', { status: 'open' }],
  ] satisfies [string, IncidentPatch][])('emits nothing for %s', (_, patch) => {
    patching(open, patch).emits()
  })

  it('emits nothing for the values of a closed incident, and refuses others', () => {
    patching(closed, { title: closed.title, status: 'closed' }).emits()
    patching(closed, { title: 'Other' }).fails('invalid_state_transition', {
      from: 'closed',
      action: 'edit',
      allowed: [],
    })
  })

  it('unassigning, lowering the severity and routing to a first team are plain updates', () => {
    patching({ ...inProgress, assigneeId: agent.id }, { assigneeId: null }).emits(
      updated({ assigneeId: null }),
    )
    patching(open, { severity: 'low' }).emits(updated({ severity: 'low' }))
    patching(open, { assignmentGroup: 'db' }).emits(updated({ assignmentGroup: 'db' }))
    patching({ ...open, assignmentGroup: 'db' }, { assignmentGroup: null }).emits(
      updated({ assignmentGroup: null }),
    )
  })
})

describe('specific events', () => {
  const escalated = (changes: Partial<IncidentState>, causes: string[]) => ({
    type: 'incident.escalated',
    changes: { ...changes, escalationLevel: 1, updatedAt: now },
    extras: { causes, reason: null },
  })

  it('raising the severity and changing the team escalate', () => {
    patching(open, { severity: 'critical' }).emits(escalated({ severity: 'critical' }, ['severity_raised']))
    patching({ ...open, assignmentGroup: 'web' }, { assignmentGroup: 'db' }).emits(
      escalated({ assignmentGroup: 'db' }, ['group_reassigned']),
    )
  })

  it('assigning starts the work of an open incident only', () => {
    const assigned = (changes: Partial<IncidentState>) => ({
      type: 'incident.assigned',
      changes: { assigneeId: agent.id, updatedAt: now, ...changes },
    })
    patching(open, { assigneeId: agent.id }).emits(assigned({ status: 'in_progress' }))
    patching(open, { assigneeId: agent.id, status: 'in_progress' }).emits(assigned({ status: 'in_progress' }))
    patching(onHold, { assigneeId: agent.id }).emits(assigned({}))
  })

  it('one patch of many things tells each by its own event, and the rest in one update', () => {
    patching(open, {
      title: 'Cart is empty',
      severity: 'high',
      assigneeId: agent.id,
      status: 'on_hold',
      holdReason: 'awaiting_vendor',
    }).emits(
      escalated({ severity: 'high' }, ['severity_raised']),
      { type: 'incident.assigned', changes: { assigneeId: agent.id, status: 'in_progress' } },
      updated({ title: 'Cart is empty', status: 'on_hold', holdReason: 'awaiting_vendor' }),
    )
  })

  it('is all or nothing', () => {
    patching(resolved, { title: 'Cart is empty', assigneeId: agent.id }).fails('invalid_state_transition')
  })
})

describe('status', () => {
  /** The event of each change of status; a missing cell is refused. */
  const matrix: Record<IncidentStatus, Partial<Record<IncidentStatus, string>>> = {
    open: {
      in_progress: 'incident.updated',
      on_hold: 'incident.updated',
      resolved: 'incident.resolved',
      canceled: 'incident.closed',
    },
    in_progress: {
      on_hold: 'incident.updated',
      resolved: 'incident.resolved',
      canceled: 'incident.closed',
    },
    on_hold: {
      in_progress: 'incident.updated',
      resolved: 'incident.resolved',
      canceled: 'incident.closed',
    },
    resolved: { open: 'incident.reopened', in_progress: 'incident.reopened', closed: 'incident.closed' },
    closed: {},
    canceled: {},
  }
  const cells = incidentStatuses.flatMap((from) =>
    incidentStatuses.filter((to) => to !== from).map((to) => ({ from, to })),
  )

  it.each(cells)('$from to $to', ({ from, to }) => {
    const outcome = patching(incidents[from], {
      status: to,
      ...(to === 'on_hold' ? { holdReason: 'awaiting_change' } : {}),
    })
    const type = matrix[from][to]
    if (type === undefined) return outcome.fails('invalid_state_transition')
    deepStrictEqual(
      outcome.decisions().map((decision) => [decision.type, decision.after?.status]),
      [[type, to]],
    )
  })

  it('reopens before it assigns', () => {
    const [reopened, assigned] = patching(resolved, {
      status: 'in_progress',
      assigneeId: agent.id,
    }).decisions()
    deepStrictEqual([reopened?.type, assigned?.type], ['incident.reopened', 'incident.assigned'])
  })

  it('edits before it closes', () => {
    patching(resolved, { status: 'closed', resolutionNotes: 'Rolled back.' }).emits(
      updated({ resolutionNotes: 'Rolled back.' }),
      {
        type: 'incident.closed',
        changes: { status: 'closed', closedAt: now },
        extras: { outcome: 'closed' },
      },
    )
  })

  it('resolves with code and notes, which can be corrected afterwards', () => {
    const resolution = { resolutionCode: 'workaround', resolutionNotes: 'Use the app.' } as const
    patching(open, { status: 'resolved', ...resolution }).emits({
      type: 'incident.resolved',
      changes: { status: 'resolved', resolvedAt: now, updatedAt: now, ...resolution },
    })
    patching(resolved, { resolutionCode: 'other' }).emits(updated({ resolutionCode: 'other' }))
  })

  it('asks for a hold reason exactly where one belongs', () => {
    patching(open, { status: 'on_hold' }).fails('validation_failed')
    patching(open, { holdReason: 'awaiting_vendor' }).fails('validation_failed')
    patching(onHold, { status: 'in_progress', holdReason: 'awaiting_vendor' }).fails('validation_failed')
    patching(onHold, { holdReason: 'awaiting_caller' }).emits(updated({ holdReason: 'awaiting_caller' }))
  })

  it('refuses a resolution for what is not resolved', () => {
    patching(open, { resolutionNotes: 'Done.' }).fails('validation_failed')
    patching(resolved, { status: 'in_progress', resolutionCode: 'fixed' }).fails('validation_failed')
  })
})
