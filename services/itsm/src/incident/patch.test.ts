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
    extras: { causes, reason: null, level: 1, escalatedTo: null },
  })

  const critical = { severity: 'critical', impact: 'high', urgency: 'high', priority: 'P1' } as const
  const high = { severity: 'high', urgency: 'high', priority: 'P2' } as const

  it('raising the severity raises what the patch says nothing of, and no priority that was set by hand', () => {
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

  it('raising the severity and changing the team escalate', () => {
    patching(open, { severity: 'critical' }).emits(escalated(critical, ['severity_raised']))
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
      escalated(high, ['severity_raised']),
      { type: 'incident.assigned', changes: { assigneeId: agent.id, status: 'in_progress' } },
      updated({ title: 'Cart is empty', status: 'on_hold', holdReason: 'awaiting_vendor' }),
    )
  })

  it('is all or nothing', () => {
    patching(resolved, { title: 'Cart is empty', assigneeId: agent.id }).fails('invalid_state_transition')
  })
})

describe('status', () => {
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

  it('is in progress with whom it is assigned to, also where it was to be open again', () => {
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

  it('asks for a hold reason exactly where one belongs', () => {
    patching(open, { status: 'on_hold' }).fails('validation_failed')
    patching(open, { holdReason: 'awaiting_vendor' }).fails('validation_failed')
    patching(onHold, { status: 'in_progress', holdReason: 'awaiting_vendor' }).fails('validation_failed')
    patching(onHold, { holdReason: 'awaiting_change' }).emits(updated({ holdReason: 'awaiting_change' }))
  })

  it('refuses a resolution for what is not resolved', () => {
    patching(open, { resolutionNotes: 'Done.' }).fails('validation_failed')
    patching(resolved, { status: 'in_progress', resolutionCode: 'fixed' }).fails('validation_failed')
  })
})

describe('waiting for the caller', () => {
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

  it('tells the caller for what, in the same breath', () => {
    patching(open, { ...hold, comment: comment.body }, { comment }).emits(
      added,
      updated({ status: 'on_hold', holdReason: 'awaiting_caller' }),
    )
    patching(onHold, { holdReason: 'awaiting_caller', comment: comment.body }, { comment }).emits(
      added,
      updated({ holdReason: 'awaiting_caller' }),
    )
  })

  it('is refused without a comment, unless it waits already', () => {
    refusedAt('/comment', patching(open, hold))
    refusedAt('/comment', patching(onHold, { holdReason: 'awaiting_caller' }))
    patching({ ...onHold, holdReason: 'awaiting_caller' }, hold).emits()
  })

  it('is not resumed by the caller who puts it on hold', () => {
    const state = { ...onHold, holdReason: 'awaiting_caller' as const, callerId: agent.id }
    patching(state, { ...hold, comment: comment.body }, { comment }).emits(added)
  })

  it('other holds may have a comment, and nothing else may', () => {
    patching(open, { status: 'on_hold', holdReason: 'awaiting_vendor', comment: '?' }, { comment }).emits(
      added,
      updated({ status: 'on_hold', holdReason: 'awaiting_vendor' }),
    )
    refusedAt('/holdReason', patching(open, { comment: 'Hello.' }, { comment }))
    refusedAt('/holdReason', patching(onHold, { comment: 'Hello.' }, { comment }))
  })
})

describe('priority', () => {
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

  it('follows impact and urgency by the matrix of the moment', () => {
    patching(open, { impact: 'high' }).emits(updated({ impact: 'high', priority: 'P2' }))
    patching(open, { impact: 'low', urgency: 'low' }).emits(
      updated({ impact: 'low', urgency: 'low', priority: 'P5' }),
    )
    patching(open, { urgency: 'high' }, strict).emits(updated({ urgency: 'high', priority: 'P1' }))
  })

  it('stays when the matrix alone has changed', () => {
    patching(open, { impact: 'medium', urgency: 'medium', priorityOverride: null }, strict).emits()
    patching(open, { title: 'Cart is empty' }, strict).emits(updated({ title: 'Cart is empty' }))
  })

  it('can be overridden, with who and when, until that is lifted', () => {
    patching(open, { priorityOverride: override }).emits(
      updated({ priority: 'P1', priorityOverride: { ...override, by: agent, at: now } }),
    )
    patching(overridden, { impact: 'low' }).emits(updated({ impact: 'low' }))
    patching(overridden, { priorityOverride: null, impact: 'low' }).emits(
      updated({ impact: 'low', priority: 'P4', priorityOverride: null }),
    )
  })

  it('keeps who overrode it first when the same is asked again', () => {
    const later = '2026-03-03T10:00:00.000Z'
    patching(overridden, { priorityOverride: override }, { now: later }).emits()
    const other = { ...override, reason: 'Still.' }
    patching(overridden, { priorityOverride: other }, { now: later }).emits({
      type: 'incident.updated',
      changes: { priorityOverride: { ...other, by: agent, at: later }, updatedAt: later },
    })
  })
})

describe('watchers and links', () => {
  it('are plain fields', () => {
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

describe('a settings that requires a resolution', () => {
  const further = { settings: { ...settings, resolutionRequired: true } }
  const resolution = { resolutionCode: 'fixed', resolutionNotes: 'Raised the pool limit.' } as const

  it.each(['resolutionCode', 'resolutionNotes'] as const)('names a missing %s', (missing) => {
    const patch: IncidentPatch = { status: 'resolved', ...resolution }
    delete patch[missing]
    expect(() => patching(open, patch, further).decisions()).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ path: `/${missing}` })] }),
    )
    patching(closed, patch, further).fails('invalid_state_transition')
  })

  it('takes one that is complete, and later corrections of either part', () => {
    patching(open, { status: 'resolved', ...resolution }, further).emits({
      type: 'incident.resolved',
      changes: { status: 'resolved', resolvedAt: now, updatedAt: now, ...resolution },
    })
    patching(resolved, { resolutionNotes: 'Twice.' }, further).emits(updated({ resolutionNotes: 'Twice.' }))
  })
})
