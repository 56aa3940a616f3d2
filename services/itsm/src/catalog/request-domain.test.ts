import { describe, expect, it } from '@jest/globals'
import {
  ApiError,
  type CatalogRequestAction,
  type CatalogRequestState,
  type CatalogRequestStatus,
  type CatalogTaskAction,
  type CatalogTaskStatus,
  catalogRequestActions,
  catalogRequestStatuses,
  catalogTaskActions,
  catalogTaskStatuses,
} from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import type { RequestCommand } from './request-commands.js'
import { catalogRequest } from './request-domain.js'
import { allowedRequestActions } from './request-transitions.js'
import {
  after,
  approver,
  begin,
  commands,
  create,
  createdAt,
  item,
  itemAfter,
  itemCommands,
  items,
  itemWithoutApprovals,
  itemWithoutTasks,
  manager,
  now,
  requester,
  requests,
  requestWithoutTasks,
  taskId,
  taskStatuses,
  withTask,
  work,
} from './sample-catalog.fixture.js'
import { allowedTaskActions } from './task-transitions.js'

const { given } = specify(catalogRequest)
type Status = CatalogRequestStatus

/**
 * Statuses that each sample action passes through, up to the resulting one; a missing cell means the action is
 * rejected. Written out independently of the tables.
 */
const matrix: Record<Status, Partial<Record<CatalogRequestAction, Status[]>>> = {
  draft: { edit: ['draft'], submit: ['submitted', 'awaiting_approval'], cancel: ['canceled'] },
  submitted: {},
  awaiting_approval: { approve: ['approved', 'fulfilling'], reject: ['rejected'], cancel: ['canceled'] },
  approved: {},
  fulfilling: { work: ['fulfilling'], cancel: ['canceled'] },
  closed_complete: {},
  closed_incomplete: {},
  closed_skipped: {},
  rejected: {},
  canceled: {},
}
const samples: Record<CatalogRequestAction, RequestCommand> = { ...commands, work: work('start', 'order') }

const codeOf = (decide: () => unknown): string | undefined => {
  try {
    decide()
  } catch (error) {
    if (error instanceof ApiError) return error.code
    throw error
  }
  return undefined
}

describe.each(catalogRequestStatuses)('a request in status %s', (status) => {
  it.each(catalogRequestActions)('handles the action %s', (action) => {
    const state = requests[status]
    const outcome = given(state).when(samples[action])
    const to = matrix[status][action]
    if (to !== undefined) {
      expect(outcome.decisions().map((decision) => decision.after?.status)).toEqual(to)
    } else if (action === 'work' && state.tasks.length === 0) {
      outcome.fails('not_found')
    } else {
      outcome.fails('invalid_state_transition', {
        from: status,
        action,
        allowed: allowedRequestActions(state),
      })
    }
    expect(allowedRequestActions(state).includes(action)).toBe(to !== undefined)
  })
})

/** Resulting status of each task action; a missing cell means the action is rejected. */
const taskMatrix: Record<CatalogTaskStatus, Partial<Record<CatalogTaskAction, CatalogTaskStatus>>> = {
  pending: { edit: 'pending' },
  open: { edit: 'open', start: 'in_progress', complete: 'complete', fail: 'incomplete', skip: 'skipped' },
  in_progress: { edit: 'in_progress', complete: 'complete', fail: 'incomplete', skip: 'skipped' },
  complete: {},
  incomplete: {},
  skipped: {},
}

describe.each(catalogTaskStatuses)('a task in status %s', (status) => {
  it.each(catalogTaskActions)('handles the action %s', (action) => {
    const id = taskId('order')
    const command: RequestCommand =
      action === 'edit'
        ? { kind: 'edit_task', taskId: id, now, patch: { assigneeId: 'usr_tim' } }
        : work(action, 'order')
    const outcome = given(withTask(status)).when(command)
    const to = taskMatrix[status][action]
    if (to === undefined) {
      outcome.fails('invalid_state_transition')
    } else {
      const [decision] = outcome.decisions()
      expect(decision?.type).toBe('request.task_updated')
      expect(decision?.extras).toMatchObject({ taskId: id, action })
      expect(decision?.after?.tasks[0]?.status).toBe(to)
    }
    expect(allowedTaskActions(status).includes(action)).toBe(to !== undefined)
  })
})

const typesOf = (command: RequestCommand, state: CatalogRequestState | null) =>
  catalogRequest.decide(command, state).map(({ type, after: next }) => `${type} ${next?.status}`)

describe('submitting and editing a request', () => {
  const atOnce = { ...create, input: { ...create.input, draft: false } }

  it('asks for approvals, or starts the work immediately if there are none', () => {
    expect(typesOf(atOnce, null)).toEqual([
      'request.created draft',
      'request.submitted submitted',
      'request.updated awaiting_approval',
    ])
    expect(typesOf({ ...atOnce, item: itemWithoutApprovals }, null)).toEqual([
      'request.created draft',
      'request.submitted submitted',
      'request.updated fulfilling',
    ])
    expect(taskStatuses(begin({ ...atOnce, item: itemWithoutApprovals }))).toEqual({
      order: 'open',
      account: 'open',
      set_up: 'pending',
      deliver: 'pending',
    })
  })

  it('fills in defaults, and rejects data that does not match the form', () => {
    expect(requests.draft.formData).toEqual({ size: 15, color: 'grey' })
    const wrong = { ...atOnce.input, formData: { size: 12, paint: true } }
    try {
      catalogRequest.decide({ ...atOnce, input: wrong }, null)
      throw new Error('It was taken.')
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      expect(error.details.map(({ path, code, params }) => [path, code, params?.schemaPath])).toEqual([
        ['/formData/size', 'too_small', '/properties/size/minimum'],
        ['/formData/paint', 'unrecognized_key', '/additionalProperties'],
      ])
    }
  })

  it('requires the required fields, which a draft may lack', () => {
    const empty = begin({ ...create, input: { ...create.input, formData: {} } })
    given(empty).when(commands.submit).fails('validation_failed', { schemaPath: '/required/0' })
    const wrong: RequestCommand = { ...commands.edit, patch: { formData: { size: 'x' } } }
    given(empty).when(wrong).fails('validation_failed', { schemaPath: '/properties/size/type' })
  })

  it('rejects data that becomes too large with its defaults', () => {
    const text = 'x'.repeat(20_000)
    const properties = { a: { type: 'string' }, b: { type: 'string', default: text } }
    const large = { ...item, formSchema: { type: 'object', properties } }
    const formData = { a: text }
    given(null)
      .when({ ...create, item: large, input: { ...create.input, formData } })
      .fails('validation_failed')
    expect(begin({ ...create, item: large, input: { ...create.input, formData: {} } }).formData).toEqual({
      b: text,
    })
  })

  it('uses the current revision of the item, so that an old draft cannot bypass newer approval rules', () => {
    const before = begin({ ...create, item: itemWithoutApprovals })
    const edited = itemAfter(itemCommands.activate, itemCommands.edit)
    const submitted = catalogRequest.decide({ ...commands.submit, item: edited }, before).at(-1)?.after
    expect(submitted).toMatchObject({ status: 'awaiting_approval', itemRevision: 2, itemName: 'Notebook' })
  })

  it('requires an active item', () => {
    for (const status of ['draft', 'retired'] as const)
      given(null)
        .when({ ...atOnce, item: items[status] })
        .fails('validation_failed')
    given(requests.draft)
      .when({ ...commands.submit, item: items.retired })
      .fails('conflict')
    given(requests.draft)
      .when({ ...commands.edit, item: items.retired })
      .fails('conflict')
  })

  it('emits nothing for an edit that changes nothing', () => {
    given(requests.draft)
      .when({ ...commands.edit, patch: { quantity: 2, formData: { size: 15 } } })
      .emits()
    given(requests.draft)
      .when(commands.edit)
      .emits({ type: 'request.updated', changes: { quantity: 3, updatedAt: now } })
  })
})

describe('approvals of a request', () => {
  const approve = (by: typeof approver) => ({ ...commands.approve, by })
  const waiting = requests.awaiting_approval

  it('cannot be decided by the requester or the recipient', () => {
    given(waiting).when(approve(requester)).fails('forbidden')
    given(waiting)
      .when({ ...commands.reject, by: requester })
      .fails('forbidden')
    const forBoss = begin(
      { ...create, input: { ...create.input, requestedFor: manager.userId } },
      commands.submit,
    )
    given(forBoss).when(approve(manager)).fails('forbidden')
    expect(forBoss.approvals[0]?.excludedIds).toEqual([requester.userId, manager.userId])
  })

  it('must all be met', () => {
    expect(typesOf(approve(manager), waiting)).toEqual(['request.updated awaiting_approval'])
    const half = after(commands.submit, approve(manager))
    expect(half.approvals.map(({ status }) => status)).toEqual(['pending', 'approved'])
    given(half).when(approve(manager)).fails('forbidden')
    expect(typesOf(approve(approver), half)).toEqual([
      'request.approved approved',
      'request.updated fulfilling',
    ])
  })

  it('receive the decision of a person under every rule they may decide on', () => {
    const [approved] = catalogRequest.decide(approve(approver), waiting)
    expect(approved?.after?.approvals.map(({ decisions }) => decisions.map(({ userId }) => userId))).toEqual([
      [approver.userId],
      [approver.userId],
    ])
    expect(approved?.after).toMatchObject({ status: 'approved', approvedAt: now })
  })

  it('are tied to the item, its revision, the form data and the quantity', () => {
    const hash = ({ approvals }: CatalogRequestState) => approvals[0]?.contentHash
    const others = [
      { ...create, item: { ...item, revision: 2 } },
      { ...create, input: { ...create.input, formData: { size: 16 } } },
      { ...create, input: { ...create.input, quantity: 1 } },
    ].map((command) => hash(begin(command, { ...commands.submit, item: command.item })))
    expect(new Set([hash(waiting), ...others]).size).toBe(4)
    const changed = { ...waiting, quantity: 9 }
    given(changed).when(approve(approver)).fails('conflict')
  })

  it('end with a single rejection, which voids the others', () => {
    const state = after(commands.submit, { ...commands.reject, by: manager })
    expect(state.approvals.map(({ status }) => status)).toEqual(['void', 'rejected'])
    expect(state).toMatchObject({ status: 'rejected', reason: 'Too dear.', closedAt: now })
  })

  it('are voided when the request is canceled', () => {
    const state = after(commands.submit, commands.cancel)
    expect(state.approvals.map(({ status }) => status)).toEqual(['void', 'void'])
  })

  it('prevent submission if no eligible approver is left', () => {
    const own = [{ name: 'Self', approverIds: [requester.userId], waitFor: 'first' as const }]
    given(requests.draft)
      .when({ ...commands.submit, item: { ...item, approvals: own } })
      .fails('validation_failed')
  })
})

describe('tasks of a request', () => {
  const { fulfilling } = requests
  const follow = (...path: RequestCommand[]) => after(commands.submit, commands.approve, ...path)

  it('open once all their dependencies are completed or skipped', () => {
    expect(taskStatuses(follow(work('complete', 'order'))).set_up).toBe('pending')
    const ordered = follow(work('complete', 'order'))
    const [skipped] = catalogRequest.decide(work('skip', 'account'), ordered)
    expect(skipped?.after && taskStatuses(skipped.after)).toEqual({
      order: 'complete',
      account: 'skipped',
      set_up: 'open',
      deliver: 'pending',
    })
    expect(skipped?.extras).toEqual({
      taskId: taskId('account'),
      action: 'skip',
      openedTaskIds: [taskId('set_up')],
      skippedTaskIds: [],
    })
    given(fulfilling).when(work('start', 'set_up')).fails('invalid_state_transition')
  })

  it('are skipped if a direct or indirect dependency fails', () => {
    const [failed, ...more] = catalogRequest.decide(work('fail', 'order'), fulfilling)
    expect(more).toEqual([])
    expect(failed?.extras?.skippedTaskIds).toEqual([taskId('set_up'), taskId('deliver')])
    expect(failed?.after && taskStatuses(failed.after)).toEqual({
      order: 'incomplete',
      account: 'open',
      set_up: 'skipped',
      deliver: 'skipped',
    })
  })

  it.each([
    ['closed_complete', ['complete', 'complete', 'complete', 'complete']],
    ['closed_complete', ['skip', 'complete', 'skip', 'skip']],
    ['closed_skipped', ['skip', 'skip', 'skip', 'skip']],
    ['closed_incomplete', ['complete', 'complete', 'complete', 'fail']],
  ] as const)('close the request as %s after %j', (status, actions) => {
    const keys = ['order', 'account', 'set_up', 'deliver']
    const path = keys.map((key, index) => work(actions[index] ?? 'skip', key))
    const last = catalogRequest.decide(path[3] ?? commands.cancel, follow(...path.slice(0, 3)))
    expect(last.map(({ type }) => type)).toEqual(['request.task_updated', 'request.fulfilled'])
    expect(last[0]?.after?.status).toBe('fulfilling')
    expect(last[1]).toMatchObject({
      after: { status, closedAt: now },
      extras: { outcome: status.slice('closed_'.length) },
    })
  })

  it('record when their work started and ended, and their notes', () => {
    const started = follow({ ...work('start', 'order'), notes: 'Ordered.' } as RequestCommand)
    expect(started.tasks[0]).toMatchObject({ startedAt: now, endedAt: null, notes: 'Ordered.' })
    const done = follow(work('complete', 'order')).tasks[0]
    expect(done).toMatchObject({ startedAt: now, endedAt: now })
    expect(follow(work('skip', 'order')).tasks[0]).toMatchObject({ startedAt: null, endedAt: now })
    const patch = { assigneeId: null, notes: null }
    given(fulfilling)
      .when({ kind: 'edit_task', taskId: taskId('order'), now, patch })
      .emits()
    given(fulfilling)
      .when({ ...work('start', 'order'), taskId: 'ctk_other' } as RequestCommand)
      .fails('not_found')
  })

  it('are skipped when the request is canceled, unless they have ended', () => {
    const canceled = follow(work('complete', 'order'), commands.cancel)
    expect(taskStatuses(canceled)).toEqual({
      order: 'complete',
      account: 'skipped',
      set_up: 'skipped',
      deliver: 'skipped',
    })
    given(canceled).when(work('start', 'account')).fails('invalid_state_transition')
  })

  it('alone close the request, which can be fulfilled manually only without tasks', () => {
    expect(allowedRequestActions(requestWithoutTasks)).toEqual(['fulfill', 'cancel'])
    given(requestWithoutTasks)
      .when(commands.fulfill)
      .emits({
        type: 'request.fulfilled',
        changes: { status: 'closed_complete', closedAt: now, updatedAt: now },
        extras: { outcome: 'complete' },
      })
    given(requestWithoutTasks)
      .when({ ...commands.fulfill, outcome: 'skipped' })
      .emits({
        type: 'request.fulfilled',
        changes: { status: 'closed_skipped', closedAt: now, updatedAt: now },
        extras: { outcome: 'skipped' },
      })
    expect(codeOf(() => catalogRequest.decide(commands.fulfill, fulfilling))).toBe('invalid_state_transition')
  })

  it('may be absent, in which case an approved request is still fulfilled', () => {
    const approved = begin(
      { ...create, item: { ...itemWithoutTasks, approvals: item.approvals } },
      { ...commands.submit, item: { ...itemWithoutTasks, approvals: item.approvals } },
      { ...commands.approve, plan: [], taskIds: [] },
    )
    expect(approved).toMatchObject({ status: 'fulfilling', tasks: [], createdAt })
  })
})
