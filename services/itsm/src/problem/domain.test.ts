import { describe, expect, it } from '@jest/globals'
import {
  defaultPriorityMatrix as matrix,
  type ProblemAction,
  type ProblemPatch,
  ProblemState,
  type ProblemStatus,
  problemActions,
  problemStatuses,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import type { ProblemStep } from './commands.js'
import { problem } from './domain.js'
import { after, create, createdAt, now, otherId, problems, steps } from './sample-problems.fixture.js'

const { given } = specify(problem)
const { new: fresh, assess: assessed, root_cause_analysis: analyzed, fix_in_progress: fixing } = problems
const { resolved, closed } = problems

/**
 * Resulting status of each action; a missing cell means the action is
 * rejected. Written out independently of the table that the code uses.
 */
const matrixOfActions: Record<ProblemStatus, Partial<Record<ProblemAction, ProblemStatus>>> = {
  new: {
    edit: 'new',
    assess: 'assess',
    publish_workaround: 'new',
    mark_known_error: 'new',
    unmark_known_error: 'new',
  },
  assess: {
    edit: 'assess',
    analyze: 'root_cause_analysis',
    close: 'closed',
    publish_workaround: 'assess',
    mark_known_error: 'assess',
    unmark_known_error: 'assess',
  },
  root_cause_analysis: {
    edit: 'root_cause_analysis',
    fix: 'fix_in_progress',
    close: 'closed',
    publish_workaround: 'root_cause_analysis',
    mark_known_error: 'root_cause_analysis',
    unmark_known_error: 'root_cause_analysis',
  },
  fix_in_progress: {
    edit: 'fix_in_progress',
    resolve: 'resolved',
    publish_workaround: 'fix_in_progress',
    mark_known_error: 'fix_in_progress',
    unmark_known_error: 'fix_in_progress',
  },
  resolved: {
    edit: 'resolved',
    close: 'closed',
    reopen: 'root_cause_analysis',
    mark_known_error: 'resolved',
    unmark_known_error: 'resolved',
  },
  closed: { reopen: 'root_cause_analysis' },
}

const eventOf: Record<ProblemAction, string> = {
  edit: 'problem.updated',
  assess: 'problem.updated',
  analyze: 'problem.updated',
  fix: 'problem.updated',
  resolve: 'problem.resolved',
  close: 'problem.closed',
  reopen: 'problem.reopened',
  publish_workaround: 'problem.workaround_published',
  mark_known_error: 'problem.known_error',
  unmark_known_error: 'problem.updated',
}

describe('every action in every status', () => {
  const cells = problemStatuses.flatMap((status) => problemActions.map((action) => ({ status, action })))

  it.each(cells)('$action while $status', ({ status, action }) => {
    // A known error can be unmarked, and any other problem can be marked.
    const marked = { knownError: true, knownErrorAt: createdAt }
    const state = { ...problems[status], ...(action === 'unmark_known_error' ? marked : {}) }
    const step = action === 'close' && status === 'resolved' ? ({ kind: 'close' } as const) : steps[action]
    const outcome = given(state).when({ ...step, now })
    const target = matrixOfActions[status][action]
    if (target === undefined) {
      const allowed = problemActions.filter((name) => matrixOfActions[status][name] !== undefined)
      outcome.fails('invalid_state_transition', { from: status, action, allowed })
      return
    }
    const [decision, ...more] = outcome.decisions()
    expect(more).toEqual([])
    expect(decision?.type).toBe(eventOf[action])
    expect(decision?.after).toMatchObject({ status: target, updatedAt: now, createdAt })
    expect(() => ProblemState.parse(decision?.after)).not.toThrow()
  })
})

describe('creating a problem', () => {
  it('derives the priority from impact and urgency, and removes repeated references', () => {
    const input = {
      ...create.input,
      impact: 'high',
      urgency: 'medium',
      ciIds: ['a', 'b', 'a'],
      changeIds: ['c', 'c'],
    } as const
    const [decision] = given(null)
      .when({ ...create, input: { ...input, ciIds: [...input.ciIds], changeIds: [...input.changeIds] } })
      .decisions()
    expect(decision?.after).toMatchObject({ priority: 'P2', ciIds: ['a', 'b'], changeIds: ['c'] })
  })

  it('rejects an id that exists already', () => {
    given(fresh).when(create).fails('conflict')
  })
})

describe('editing a problem', () => {
  const edit = (patch: ProblemPatch) => ({ kind: 'edit', patch, matrix, now }) as const

  it('emits nothing if nothing changes', () => {
    given(fresh)
      .when(edit({ title: fresh.title, impact: fresh.impact, ciIds: [] }))
      .emits()
  })

  it('derives the priority again if impact or urgency changes', () => {
    given(fresh)
      .when(edit({ impact: 'high', urgency: 'high' }))
      .emits({
        type: 'problem.updated',
        changes: { impact: 'high', urgency: 'high', priority: 'P1', updatedAt: now },
      })
  })

  it('keeps the priority if only the matrix has changed', () => {
    const other = { ...matrix, medium: { high: 'P1', medium: 'P1', low: 'P1' } } as const
    given(fresh)
      .when({ kind: 'edit', patch: { title: 'Other' }, matrix: other, now })
      .emits({ type: 'problem.updated', changes: { title: 'Other', updatedAt: now } })
  })

  it('marks a changed workaround as not yet published', () => {
    given(after(steps.publish_workaround))
      .when(edit({ workaround: 'Wait.' }))
      .emits({
        type: 'problem.updated',
        changes: { workaround: 'Wait.', workaroundPublishedAt: null, updatedAt: now },
      })
  })

  it.each(['workaround', 'rootCause'] as const)('cannot remove the %s of a known error', (field) => {
    for (const nothing of [null, '']) {
      given(after(steps.mark_known_error))
        .when(edit({ [field]: nothing }))
        .fails('validation_failed')
    }
  })

  it('cannot remove the root cause of a fixed problem', () => {
    given(resolved)
      .when(edit({ rootCause: null }))
      .fails('validation_failed')
  })
})

describe('a workaround', () => {
  it('is published with the given text, or with the existing one', () => {
    given(fresh)
      .when({ kind: 'publish_workaround', workaround: 'Wait.', now })
      .emits({
        type: 'problem.workaround_published',
        changes: { workaround: 'Wait.', workaroundPublishedAt: now, updatedAt: now },
      })
    given(fresh)
      .when({ kind: 'publish_workaround', now })
      .emits({
        type: 'problem.workaround_published',
        changes: { workaroundPublishedAt: now, updatedAt: now },
      })
  })

  it('is published only once', () => {
    given(after(steps.publish_workaround)).when({ kind: 'publish_workaround', now }).emits()
  })

  it('must exist before it is published', () => {
    given({ ...fresh, workaround: null })
      .when({ kind: 'publish_workaround', now })
      .fails('validation_failed')
  })
})

describe('a known error', () => {
  it.each(['workaround', 'rootCause'] as const)('requires a %s', (field) => {
    given({ ...fresh, [field]: null })
      .when({ kind: 'mark_known_error', now })
      .fails('validation_failed')
  })

  it('is marked and unmarked only once', () => {
    given(after(steps.mark_known_error)).when({ kind: 'mark_known_error', now }).emits()
    given(fresh).when({ kind: 'unmark_known_error', now }).emits()
    given(after(steps.mark_known_error))
      .when({ kind: 'unmark_known_error', now })
      .emits({
        type: 'problem.updated',
        changes: { knownError: false, knownErrorAt: null, updatedAt: now },
      })
  })
})

describe('ending a problem', () => {
  const ends = { resolution: null, resolutionNotes: null, duplicateOf: null, resolvedAt: null } as const

  it('closes it directly if the resolution is not a fix', () => {
    given(analyzed)
      .when({ kind: 'close', resolution: 'duplicate', duplicateOf: otherId, now })
      .emits({
        type: 'problem.closed',
        changes: {
          status: 'closed',
          resolution: 'duplicate',
          duplicateOf: otherId,
          resolvedAt: now,
          closedAt: now,
          updatedAt: now,
        },
      })
  })

  it('closes a resolved problem with its resolution', () => {
    given(resolved)
      .when({ kind: 'close', now })
      .emits({ type: 'problem.closed', changes: { status: 'closed', closedAt: now, updatedAt: now } })
  })

  it('is cleared when the problem is reopened', () => {
    given(closed)
      .when({ kind: 'reopen', now })
      .emits({
        type: 'problem.reopened',
        changes: { ...ends, status: 'root_cause_analysis', closedAt: null, reopenCount: 1, updatedAt: now },
        extras: { reason: null },
      })
  })

  const resolve = (fields: Omit<ProblemStep & { kind: 'resolve' }, 'kind'>) =>
    ({ kind: 'resolve', ...fields }) as const
  const refused: [string, ProblemState, ProblemStep, string][] = [
    [
      'a fix without root cause',
      { ...fixing, rootCause: null },
      resolve({ resolution: 'fix_applied', resolutionNotes: 'Done.' }),
      '/rootCause',
    ],
    ['a fix without notes', fixing, resolve({ resolution: 'fix_applied' }), '/resolutionNotes'],
    ['an accepted risk without notes', fixing, resolve({ resolution: 'risk_accepted' }), '/resolutionNotes'],
    ['a duplicate of nothing', fixing, resolve({ resolution: 'duplicate' }), '/duplicateOf'],
    [
      'a duplicate of itself',
      fixing,
      resolve({ resolution: 'duplicate', duplicateOf: fixing.id }),
      '/duplicateOf',
    ],
    [
      'another problem with what is no duplicate',
      fixing,
      resolve({ resolution: 'canceled', duplicateOf: otherId }),
      '/duplicateOf',
    ],
    ['closing at once without resolution', assessed, { kind: 'close' }, '/resolution'],
    [
      'closing at once as fixed',
      assessed,
      { kind: 'close', resolution: 'fix_applied', resolutionNotes: 'Done.' },
      '/resolution',
    ],
    ['another resolution when closing', resolved, { kind: 'close', resolution: 'canceled' }, '/resolution'],
    ['other notes when closing', resolved, { kind: 'close', resolutionNotes: 'No.' }, '/resolutionNotes'],
  ]
  it.each(refused)('rejects %s', (_, state, step, path) => {
    const decide = () => problem.decide({ ...step, now }, state)
    expect(decide).toThrow(expect.objectContaining({ code: 'validation_failed' }))
    expect(decide).toThrow(expect.objectContaining({ details: [expect.objectContaining({ path })] }))
  })
})
