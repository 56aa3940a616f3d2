import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Change, ChangePolicy, ConfigurationItem, changeEvents, type Principal } from '@opsplane/contracts'
import {
  type ApiReply,
  type EventRecorder,
  recordEvents,
  type SharedService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'
import { newTemplate } from '../template/template.fixture.js'

let service: SharedService
let recorder: EventRecorder
const requester = testPrincipal()

beforeAll(async () => {
  service = await joinItsm()
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

/** Another person in the workspace of `of`. */
const person = (name: string, of: Principal = requester): Principal => ({
  ...of,
  userId: `usr_${name}`,
  actor: { id: `usr_${name}`, name, type: 'user' },
})
const [approver, secondApprover, implementer] = [
  person('approver'),
  person('secondApprover'),
  person('implementer'),
]

const complete = {
  title: 'Move to new disks',
  assigneeId: implementer.userId,
  plannedStart: '2026-03-07T22:00:00.000Z',
  plannedEnd: '2026-03-08T02:00:00.000Z',
  implementationPlan: 'Add, move, remove.',
  backoutPlan: 'Move back.',
}
const draft = async (fields: object = {}, as = requester): Promise<Change> =>
  (await service.as(as).post('/itsm/changes', { ...complete, ...fields })).data(Change)

/** Fields of a standard change, whose texts come from its template. */
const fromTemplate = async (fields: object = {}) => ({
  type: 'standard',
  templateId: await newTemplate(service.as(requester), fields),
  implementationPlan: undefined,
  backoutPlan: undefined,
})

const send = (change: Change, action: string, as: Principal, body?: object): Promise<ApiReply> =>
  service.as(as).post(`/itsm/changes/${change.id}/${action}`, body)

const act = async (change: Change, action: string, as: Principal, body?: object): Promise<Change> =>
  (await send(change, action, as, body)).data(Change)

const addPolicy = async (fields: object, as: Principal): Promise<ChangePolicy> =>
  (await service.as(as).post('/itsm/change-policies', { name: 'Board', ...fields })).data(ChangePolicy)

const newItem = async (name: string): Promise<string> =>
  (await service.as(requester).post('/cmdb/items', { class: 'server', name, status: 'operational' })).data(
    ConfigurationItem,
  ).id

const eventsOf = (id: string, count: number) =>
  waitFor(() => {
    const events = recorder.published.filter(({ event }) => event.resource.id === id)
    return events.length >= count && events.map(({ event }) => event)
  })

describe('the lifecycle of a change', () => {
  it('passes both approval stages, implementation and review, each with its own event', async () => {
    const change = await draft()
    await act(change, 'submit', requester)
    await act(change, 'approve', approver, { comment: 'Sound.' })
    expect(await act(change, 'approve', secondApprover)).toMatchObject({
      status: 'scheduled',
      approvals: [{ status: 'approved' }, { status: 'approved' }],
      allowedActions: ['edit', 'implement', 'cancel', 'hold'],
    })
    await act(change, 'hold', requester, { reason: 'Vendor.' })
    await act(change, 'resume', requester)
    await act(change, 'implement', implementer)
    await act(change, 'complete', implementer, { outcome: 'successful', closeNotes: 'As planned.' })
    expect((await send(change, 'close', implementer)).error().code).toBe('forbidden')
    const closed = await act(change, 'close', approver, { reviewNotes: 'Good.' })
    expect(closed).toMatchObject({ status: 'closed', outcome: 'successful', allowedActions: [] })

    const events = await eventsOf(change.id, 10)
    expect(events.map(({ type }) => type)).toEqual([
      'change.created',
      'change.submitted',
      'change.approval_recorded',
      'change.approval_recorded',
      'change.approved',
      'change.updated',
      'change.updated',
      'change.implementation_started',
      'change.completed',
      'change.closed',
    ])
    for (const { type, data } of events)
      expect(
        Object.entries(changeEvents)
          .find(([name]) => name === type)?.[1]
          .data.parse(data),
      ).toEqual(data)
  })

  it('allows rollback, rejection and cancellation by change number', async () => {
    const emergency = await draft({ type: 'emergency' })
    const by = { ...emergency, id: emergency.number }
    await act(by, 'submit', requester)
    expect(await act(by, 'reject', approver, { reason: 'Too soon.' })).toMatchObject({
      status: 'draft',
      rejectionReason: 'Too soon.',
    })
    await act(by, 'submit', requester)
    await act(by, 'approve', approver)
    await act(by, 'implement', implementer)
    expect(await act(by, 'rollback', implementer, { closeNotes: 'Slower.' })).toMatchObject({
      status: 'rolled_back',
      outcome: 'unsuccessful',
    })
    await act(by, 'close', approver)
    const other = await draft()
    expect(await act(other, 'cancel', requester, { reason: 'No need.' })).toMatchObject({
      status: 'canceled',
    })
    const refused = (await send(other, 'submit', requester)).error()
    expect(refused).toMatchObject({
      code: 'invalid_state_transition',
      details: [{ params: { from: 'canceled', action: 'submit', allowed: [] } }],
    })
  })

  it('is readable as of a past instant', async () => {
    const change = await draft()
    await act(change, 'submit', requester)
    const reply = await service.as(requester).get(`/itsm/changes/${change.id}?asOf=${change.createdAt}`)
    expect(reply.data(Change)).toEqual(change)
  })
})

describe('separation of duties', () => {
  it('rejects a decision by the requester or implementer with a reason, also through an API key', async () => {
    const change = await act(await draft(), 'submit', requester)
    const key: Principal = { ...requester, actor: { id: 'tok_1', name: 'CI', type: 'api_token' } }
    for (const who of [requester, key, implementer]) {
      const refused = await send(change, 'approve', who)
      expect(refused.status).toBe(403)
      expect(refused.error().message).toContain('editors and implementers cannot decide')
    }
  })

  it('requires the permission to approve', async () => {
    const change = await act(await draft(), 'submit', requester)
    const agent = { ...approver, permissions: ['itsm:read', 'itsm:write'] }
    expect((await send(change, 'approve', agent)).error().code).toBe('insufficient_scope')
  })

  it('rejects a decision by an editor who did not submit the draft, also through an API key', async () => {
    const of = testPrincipal()
    const [editor, other] = [person('editor', of), person('other', of)]
    const key: Principal = { ...editor, actor: { id: 'tok_1', name: 'CI', type: 'api_token' } }
    const change = await draft({}, of)
    const path = `/itsm/changes/${change.id}`
    const edited = (await service.as(key).patch(path, { backoutPlan: 'Buy new ones.' })).data(Change)
    expect(edited).not.toHaveProperty('editorIds')
    await act(change, 'submit', of)
    for (const who of [editor, key])
      for (const [action, body] of [['approve'], ['reject', { reason: 'No.' }]] as const) {
        const refused = await send(change, action, who, body)
        expect(refused.status).toBe(403)
        expect(refused.error().message).toContain('An editor of this change cannot decide')
      }
    const waiting = async (who: Principal) =>
      (await service.as(who).get('/itsm/changes?approverId=me')).page(Change).items
    expect(await waiting(editor)).toEqual([])
    expect(await waiting(other)).toHaveLength(1)
    expect(await act(change, 'approve', other)).toMatchObject({ status: 'authorize' })
    expect((await service.as(of).get(`${path}?asOf=${edited.updatedAt}`)).data(Change)).toEqual(edited)
    const [, updated] = await eventsOf(change.id, 2)
    expect(updated?.data).toMatchObject({ changes: ['backoutPlan', 'updatedAt'] })
    expect(updated?.data.after).not.toHaveProperty('editorIds')
  })

  it('rejects a review by an implementer who handed the change over later', async () => {
    const change = await act(await draft(await fromTemplate()), 'submit', requester)
    await act(change, 'implement', implementer)
    const path = `/itsm/changes/${change.id}`
    await service.as(implementer).patch(path, { assigneeId: secondApprover.userId })
    await act(change, 'complete', secondApprover, { outcome: 'successful_with_issues' })
    for (const who of [implementer, secondApprover]) {
      const refused = await send(change, 'close', who)
      expect(refused.status).toBe(403)
      expect(refused.error().message).toContain('An implementer of this change cannot review')
      expect((await service.as(who).patch(path, { reviewNotes: 'Good.' })).error().code).toBe('forbidden')
    }
    expect(await act(change, 'close', approver)).toMatchObject({ status: 'closed' })
  })

  it('counts each of several concurrent approvals exactly once', async () => {
    const of = testPrincipal()
    await addPolicy({ technical: [{ name: 'Board', waitFor: { count: 3 } }] }, of)
    const change = await act(await draft({}, of), 'submit', of)
    const board = Array.from({ length: 8 }, (_, index) => person(`board${index}`, of))
    const replies = await Promise.all(board.map((one) => send(change, 'approve', one)))
    // The second stage uses the default rule, which needs one approval.
    // So the fourth approval ends it and the others are late.
    const done = replies.filter(({ status }) => status === 200)
    expect(done).toHaveLength(4)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(4)
    const now = (await service.as(of).get(`/itsm/changes/${change.id}`)).data(Change)
    expect(now.status).toBe('scheduled')
    expect(now.approvals.map(({ decisions }) => decisions.length)).toEqual([3, 1])
    expect(
      new Set(now.approvals.flatMap(({ decisions }) => decisions.map(({ userId }) => userId))).size,
    ).toBe(4)
  })

  it('does not count a repeated approval for the next stage', async () => {
    const of = testPrincipal()
    const [one, other] = [person('one', of), person('other', of)]
    const change = await act(await draft({}, of), 'submit', of)
    await act(change, 'approve', one, { comment: 'Sound.' })
    const again = await send(change, 'approve', one, { comment: 'Sound.' })
    const now = (await service.as(of).get(`/itsm/changes/${change.id}`)).data(Change)
    expect(now).toMatchObject({ status: 'authorize', approvals: [{ decisions: [{}] }, { decisions: [] }] })
    const approvalId = now.approvals[1]?.id
    expect(again.status).toBe(422)
    expect(again.error().details).toMatchObject([
      {
        path: '/approvalId',
        code: 'required',
        message: expect.stringContaining(`approved Technical approval. Send ${approvalId}`),
      },
    ])
    expect(await act(change, 'approve', one, { approvalId })).toMatchObject({ status: 'scheduled' })

    const second = await act(await draft({}, of), 'submit', of)
    await act(second, 'approve', one)
    expect(await act(second, 'approve', other)).toMatchObject({ status: 'scheduled' })
  })

  it('with distinctApprovers requires other people for the authorization, also in approverId=me', async () => {
    const of = testPrincipal()
    const [one, other] = [person('one', of), person('other', of)]
    const policy = await addPolicy({ distinctApprovers: true }, of)
    const change = await act(await draft({}, of), 'submit', of)
    await service.as(of).patch(`/itsm/change-policies/${policy.id}`, { distinctApprovers: false })
    const waiting = async (who: Principal) =>
      (await service.as(who).get('/itsm/changes?approverId=me')).page(Change).items.length
    const { approvals, approvalPolicy } = await act(change, 'approve', one)
    expect(approvalPolicy).toMatchObject({ id: policy.id, distinctApprovers: true })
    expect([await waiting(one), await waiting(other)]).toEqual([0, 1])
    const refused = await send(change, 'approve', one, { approvalId: approvals[1]?.id })
    expect(refused.status).toBe(403)
    expect(refused.error().message).toContain('An approver of the technical stage cannot decide')
    expect(await act(change, 'approve', other)).toMatchObject({ status: 'scheduled' })

    const both = [{ name: 'Board', approverIds: ['usr_one', 'usr_other'], waitFor: { count: 2 } }]
    await addPolicy({ distinctApprovers: true, order: 1, authorization: both }, of)
    const second = await act(await draft({}, of), 'submit', of)
    const needed = await send(second, 'approve', one)
    expect(needed.status).toBe(409)
    expect(needed.error()).toMatchObject({ code: 'conflict', message: expect.stringContaining('Board') })
    expect(await act(second, 'approve', person('third', of))).toMatchObject({ status: 'authorize' })
  })

  it('counts a person who approves twice concurrently only once', async () => {
    const of = testPrincipal()
    await addPolicy({ technical: [{ name: 'Board', waitFor: { count: 2 } }] }, of)
    const change = await act(await draft({}, of), 'submit', of)
    const one = person('one', of)
    const replies = await Promise.all([1, 2, 3].map(() => send(change, 'approve', one)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403, 403])
    expect((await service.as(of).get(`/itsm/changes/${change.id}`)).data(Change).status).toBe('assess')
  })
})

describe('editing an approved change', () => {
  it('voids its approvals and emits an event', async () => {
    const change = await act(await act(await draft(), 'submit', requester), 'approve', approver)
    const path = `/itsm/changes/${change.id}`
    const plain = (await service.as(requester).patch(path, { assignmentGroup: 'db' })).data(Change)
    expect(plain.status).toBe('authorize')
    const edited = (await service.as(requester).patch(path, { backoutPlan: 'None.' })).data(Change)
    expect(edited).toMatchObject({ status: 'draft', approvals: [{ status: 'void' }, { status: 'void' }] })
    const events = await eventsOf(change.id, 5)
    expect(events.at(-2)?.data.approvalsVoided).toBeUndefined()
    expect(events.at(-1)?.data.approvalsVoided).toBe(true)
  })

  it('never applies a concurrent approval to the edited content', async () => {
    const change = await act(await draft(), 'submit', requester)
    const [edit, approval] = await Promise.all([
      service.as(requester).patch(`/itsm/changes/${change.id}`, { title: 'Something else' }),
      send(change, 'approve', approver),
    ])
    expect(edit?.status).toBe(200)
    expect([200, 409]).toContain(approval?.status)
    const now = (await service.as(requester).get(`/itsm/changes/${change.id}`)).data(Change)
    expect(now).toMatchObject({ status: 'draft', title: 'Something else' })
    expect(new Set(now.approvals.map(({ status }) => status))).toEqual(new Set(['void']))
  })

  it('keeps items that were retired, but rejects them when the change is submitted', async () => {
    const api = service.as(requester)
    const id = await newItem('web-1')
    const change = await draft({ ciIds: [id] })
    await api.post(`/cmdb/items/${id}/retire`)
    expect((await api.patch(`/itsm/changes/${change.id}`, { title: 'Kept' })).status).toBe(200)
    expect((await send(change, 'submit', requester)).error().details).toMatchObject([
      { path: '/ciIds/0', code: 'retired' },
    ])
  })
})

describe('risk by past failures', () => {
  it('counts failed and rolled-back changes of the same items', async () => {
    const id = await newItem('web-2')
    const standard = { ...(await fromTemplate({ impact: 'low', successProbability: 100 })), ciIds: [id] }
    for (const ending of ['complete', 'rollback', 'complete']) {
      const change = await act(await draft(standard), 'submit', requester)
      await act(change, 'implement', implementer)
      await act(change, ending, implementer, ending === 'complete' ? { outcome: 'successful' } : undefined)
    }
    expect((await draft(standard)).riskFactors).toContainEqual({
      factor: 'past_failures',
      risk: 'high',
      message: '1 of the last 3 changes of its items failed',
    })
    expect((await draft({ ...standard, ciIds: [] })).risk).toBe('low')
  })
})

describe('the list of changes to approve', () => {
  it('includes a change until the approver has decided, and excludes it for others', async () => {
    const of = testPrincipal()
    const [named, other] = [person('named', of), person('other', of)]
    const rules = [{ name: 'Board', approverIds: ['usr_named', 'usr_third'], waitFor: { count: 2 } }]
    await addPolicy({ technical: rules, conditions: { impact: 'high' } }, of)
    const mine = await act(await draft({ impact: 'high' }, of), 'submit', of)
    const anyones = await act(await draft({}, of), 'submit', of)
    const waiting = async (who: Principal, query = 'approverId=me') =>
      (await service.as(who).get(`/itsm/changes?sort=number&${query}`)).page(Change).items.map(({ id }) => id)
    expect(await waiting(named)).toEqual([mine.id, anyones.id])
    expect(await waiting(of, 'approverId=usr_named&risk=high')).toEqual([mine.id])
    expect(await waiting(other)).toEqual([anyones.id])
    expect(await waiting(of)).toEqual([])
    await act(mine, 'approve', named)
    expect(await waiting(named)).toEqual([anyones.id])
    await act(anyones, 'hold', of, { reason: 'Vendor.' })
    expect(await waiting(named)).toEqual([])
  })
})
