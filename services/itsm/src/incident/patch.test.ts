import { deepStrictEqual } from 'node:assert/strict'
import { describe, expect, it } from '@jest/globals'
import {
  type IncidentPatch,
  type IncidentState,
  type IncidentStatus,
  incidentStatuses,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import type { PatchIncident } from './commands.js'
import { incident } from './domain.js'
import { agent, comment, incidents, now, settings } from './sample-incidents.fixture.js'

const { given } = specify(incident)
const { open, in_progress: inProgress, on_hold: onHold, resolved, closed } = incidents
const patching = (state: IncidentState, patch: IncidentPatch, further: Partial<PatchIncident> = {}) =>
  given(state).when({ kind: 'patch', patch, by: agent, settings, now, ...further })

const updated = (changes: Partial<IncidentState>) => ({
  type: 'incident.updated',
  changes: { ...changes, updatedAt: now },
})

describe('patching fields of an incident', () => {
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

  it('emits nothing for unchanged values of a closed incident, and rejects other values', () => {
    patching(closed, { title: closed.title, status: 'closed' }).emits()
    patching(closed, { title: 'Other' }).fails('invalid_state_transition', {
      from: 'closed',
      action: 'edit',
      allowed: [],
    })
  })

  it('emits incident.updated for unassigning, lowering the severity and assigning a first team', () => {
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

describe('specific events of a patch', () => {
  const escalated = (changes: Partial<IncidentState>, causes: string[]) => ({
    type: 'incident.escalated',
    changes: { ...changes, escalationLevel: 1, updatedAt: now },
    extras: { causes, reason: null, level: 1, escalatedTo: null },
  })

  const critical = { severity: 'critical', impact: 'high', urgency: 'high', priority: 'P1' } as const
  const high = { severity: 'high', urgency: 'high', priority: 'P2' } as const

  it('raising the severity raises the levels the patch omits, but not an overridden priority', () => {
    patching(open, { severity: 'critical', urgency: 'low' }).emits(
      escalated({ severity: 'critical' }, ['severity_raised']),
      updated({ impact: 'high', urgency: 'low', priority: 'P3' }),
    )
    const byHand = { priority: 'P4', reason: 'A test machine.', by: agent, at: now } as const
    patching({ ...open, priority: 'P4', priorityOverride: byHand }, { severity: 'critical' }).emits(
      escalated({ severity: 'critical' }, ['severity_raised']),
    )
    patching({ ...open, impact: 'high', urgency: 'high', priority: 'P1' }, { severity: 'critical' }).emits(
      escalated({ severity: 'critical' }, ['severity_raised']),
    )
  })

  it('raising the severity and changing the team emit incident.escalated', () => {
    patching(open, { severity: 'critical' }).emits(escalated(critical, ['severity_raised']))
    patching({ ...open, assignmentGroup: 'web' }, { assignmentGroup: 'db' }).emits(
      escalated({ assignmentGroup: 'db' }, ['group_reassigned']),
    )
  })

  it('assigning starts the work only of an open incident', () => {
    const assigned = (changes: Partial<IncidentState>) => ({
      type: 'incident.assigned',
      changes: { assigneeId: agent.id, updatedAt: now, ...changes },
    })
    patching(open, { assigneeId: agent.id }).emits(assigned({ status: 'in_progress' }))
    patching(open, { assigneeId: agent.id, status: 'in_progress' }).emits(assigned({ status: 'in_progress' }))
    patching(onHold, { assigneeId: agent.id }).emits(assigned({}))
  })

  it('a patch of many fields emits each specific event, and one update for the rest', () => {
    patching(open, {
      title: 'Cart is empty',
      severity: 'high',
      assigneeId: agent.id,
      status: 'on_hold',
      holdReason: 'awaiting_vendor',
    }).emits(
      escalated(high, ['severity_raised']),
      { type: 'incident.assigned', changes: { assigneeId: agent.id, status: 'in_progress' } },
      updated({ title: 'Cart is empty', status: 'on_hold', holdReason: 'awaiting_vendor' }),
    )
  })

  it('a patch is applied entirely or rejected entirely', () => {
    patching(resolved, { title: 'Cart is empty', assigneeId: agent.id }).fails('invalid_state_transition')
  })
})

describe('patching the status of an incident', () => {
  /** The event of each status change; a missing cell means the change is rejected. */
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

  it.each(cells)('handles $from to $to', ({ from, to }) => {
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

  it('moves an incident that is reopened and assigned to in_progress', () => {
    const patch = { status: 'open', assigneeId: 'usr_other' } as const
    const decisions = patching(resolved, patch).decisions()
    expect(decisions.map(({ type, after }) => [type, after?.status])).toEqual([
      ['incident.reopened', 'open'],
      ['incident.assigned', 'in_progress'],
    ])
    patching(inProgress, patch).fails('invalid_state_transition')
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

  it('requires a hold reason exactly when the incident is or becomes on hold', () => {
    patching(open, { status: 'on_hold' }).fails('validation_failed')
    patching(open, { holdReason: 'awaiting_vendor' }).fails('validation_failed')
    patching(onHold, { status: 'in_progress', holdReason: 'awaiting_vendor' }).fails('validation_failed')
    patching(onHold, { holdReason: 'awaiting_change' }).emits(updated({ holdReason: 'awaiting_change' }))
  })

  it('rejects a resolution for an incident that is not resolved', () => {
    patching(open, { resolutionNotes: 'Done.' }).fails('validation_failed')
    patching(resolved, { status: 'in_progress', resolutionCode: 'fixed' }).fails('validation_failed')
  })
})

describe('a patch to hold an incident for its caller', () => {
  const hold = { status: 'on_hold', holdReason: 'awaiting_caller' } as const
  const added = {
    type: 'incident.comment_added',
    changes: { commentCount: 1, updatedAt: now },
    extras: { comment },
  }
  const refusedAt = (path: string, outcome: ReturnType<typeof patching>) =>
    expect(() => outcome.decisions()).toThrow(
      expect.objectContaining({ code: 'validation_failed', details: [expect.objectContaining({ path })] }),
    )

  it('adds the comment with the question to the caller', () => {
    patching(open, { ...hold, comment: comment.body }, { comment }).emits(
      added,
      updated({ status: 'on_hold', holdReason: 'awaiting_caller' }),
    )
    patching(onHold, { holdReason: 'awaiting_caller', comment: comment.body }, { comment }).emits(
      added,
      updated({ holdReason: 'awaiting_caller' }),
    )
  })

  it('is rejected without a comment, unless the incident waits for the caller already', () => {
    refusedAt('/comment', patching(open, hold))
    refusedAt('/comment', patching(onHold, { holdReason: 'awaiting_caller' }))
    patching({ ...onHold, holdReason: 'awaiting_caller' }, hold).emits()
  })

  it('does not resume the incident if the caller sends the patch', () => {
    const state = { ...onHold, holdReason: 'awaiting_caller' as const, callerId: agent.id }
    patching(state, { ...hold, comment: comment.body }, { comment }).emits(added)
  })

  it('accepts a comment, as other holds do, whereas any other patch rejects one', () => {
    patching(open, { status: 'on_hold', holdReason: 'awaiting_vendor', comment: '?' }, { comment }).emits(
      added,
      updated({ status: 'on_hold', holdReason: 'awaiting_vendor' }),
    )
    refusedAt('/holdReason', patching(open, { comment: 'Hello.' }, { comment }))
    refusedAt('/holdReason', patching(onHold, { comment: 'Hello.' }, { comment }))
  })
})

describe('patching the priority of an incident', () => {
  const override = { priority: 'P1' as const, reason: 'The board looks at it.' }
  const overridden = {
    ...open,
    priority: 'P1' as const,
    priorityOverride: { ...override, by: agent, at: now },
  }
  const strict = {
    settings: {
      ...settings,
      priorityMatrix: { ...settings.priorityMatrix, medium: settings.priorityMatrix.high },
    },
  }

  it('derives it from impact and urgency by the current matrix', () => {
    patching(open, { impact: 'high' }).emits(updated({ impact: 'high', priority: 'P2' }))
    patching(open, { impact: 'low', urgency: 'low' }).emits(
      updated({ impact: 'low', urgency: 'low', priority: 'P5' }),
    )
    patching(open, { urgency: 'high' }, strict).emits(updated({ urgency: 'high', priority: 'P1' }))
  })

  it('keeps it if only the matrix has changed', () => {
    patching(open, { impact: 'medium', urgency: 'medium', priorityOverride: null }, strict).emits()
    patching(open, { title: 'Cart is empty' }, strict).emits(updated({ title: 'Cart is empty' }))
  })

  it('keeps an override, with its author and time, until the override is removed', () => {
    patching(open, { priorityOverride: override }).emits(
      updated({ priority: 'P1', priorityOverride: { ...override, by: agent, at: now } }),
    )
    patching(overridden, { impact: 'low' }).emits(updated({ impact: 'low' }))
    patching(overridden, { priorityOverride: null, impact: 'low' }).emits(
      updated({ impact: 'low', priority: 'P4', priorityOverride: null }),
    )
  })

  it('keeps the first author of an override that is repeated unchanged', () => {
    const later = '2026-03-03T10:00:00.000Z'
    patching(overridden, { priorityOverride: override }, { now: later }).emits()
    const other = { ...override, reason: 'Still.' }
    patching(overridden, { priorityOverride: other }, { now: later }).emits({
      type: 'incident.updated',
      changes: { priorityOverride: { ...other, by: agent, at: later }, updatedAt: later },
    })
  })
})

describe('patching watchers and links of an incident', () => {
  it('emits incident.updated', () => {
    const fields = {
      watcherIds: [agent.id],
      problemId: 'prb_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      changeId: 'chg_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      causedByChangeId: 'chg_01JZ8Q4D3N5W7X9Y2B4C6D8E0G',
    }
    patching(open, fields).emits(updated(fields))
    patching({ ...open, ...fields }, { problemId: null }).emits(updated({ problemId: null }))
  })
})

describe('settings that require a resolution', () => {
  const further = { settings: { ...settings, resolutionRequired: true } }
  const resolution = { resolutionCode: 'fixed', resolutionNotes: 'Raised the pool limit.' } as const

  it.each(['resolutionCode', 'resolutionNotes'] as const)('reject a patch without %s', (missing) => {
    const patch: IncidentPatch = { status: 'resolved', ...resolution }
    delete patch[missing]
    expect(() => patching(open, patch, further).decisions()).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ path: `/${missing}` })] }),
    )
    patching(closed, patch, further).fails('invalid_state_transition')
  })

  it('accept a complete resolution, and later corrections of either part', () => {
    patching(open, { status: 'resolved', ...resolution }, further).emits({
      type: 'incident.resolved',
      changes: { status: 'resolved', resolvedAt: now, updatedAt: now, ...resolution },
    })
    patching(resolved, { resolutionNotes: 'Twice.' }, further).emits(updated({ resolutionNotes: 'Twice.' }))
  })
})
