import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eventCatalog } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let receiver: Receiver
type Client = ReturnType<typeof typedClient>
/** `ada` is the owner, and `grace` approves the owner's requests. */
let ada: Client
let grace: Client
let lateId: string

beforeAll(async () => {
  platform = await joinPlatform()
  ada = typedClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
    respond: () => ({ status: 200 }),
  })
  grace = await colleague()
  const events = ['incident.*', 'change.*', 'sla.breached']
  await ada.post('/webhooks', { body: { name: 'desk', url: `${receiver.url}/desk`, events } })
  // Breached after a minute, while the other tests run.
  const goals = { goalsBy: 'all' as const, goals: { all: 1 } }
  const conditions = { category: 'late' }
  await ada.post('/itsm/sla-policies', {
    body: { name: 'At once', metric: 'resolution', ...goals, conditions },
  })
  lateId = (await ada.post('/itsm/incidents', { body: { title: 'Forgotten', category: 'late' } })).data.id
})
afterAll(async () => {
  await receiver?.stop()
})

async function colleague(): Promise<Client> {
  const email = 'grace@desk.example.com'
  const { data } = await ada.post('/settings/users/invite', { body: { email, role: 'admin' } })
  const body = {
    token: data.invitation?.token ?? '',
    name: 'Grace',
    password: 'correct horse battery staple',
  }
  const session = await ada.post('/auth/invitations/accept', { body })
  return typedClient({ ...platform.info, apiKey: session.data.accessToken })
}

interface Delivered {
  id: string
  event: string
  data: Record<string, unknown>
}
const delivered = (): Delivered[] =>
  receiver.received().map(({ rawBody }) => JSON.parse(rawBody.toString('utf8')) as Delivered)
const arrived = (type: string) =>
  waitFor(() => delivered().find(({ event }) => event === type), {
    message: `${type} to arrive`,
    intervalMs: 100,
  })
/** An event of an incident too, but only a minute later: the last test waits for it. */
const breach = 'incident.sla_breached'
/** Every event of a kind that the catalogue declares. */
const declared = (kind: string) => Object.keys(eventCatalog).filter((type) => type.startsWith(`${kind}.`))

describe('a webhook receives every declared event', () => {
  test('of an incident', async () => {
    const { data } = await ada.post('/itsm/incidents', {
      body: { title: 'Disk full', assignmentGroup: 'db' },
    })
    const params = { path: { id: data.id } }
    const { user } = (await ada.get('/auth/me')).data
    await ada.patch('/itsm/incidents/{id}', { params, body: { impact: 'high', urgency: 'high' } })
    await ada.patch('/itsm/incidents/{id}', { params, body: { assigneeId: user.id } })
    await ada.post('/itsm/incidents/{id}/escalate', { params, body: { severity: 'critical' } })
    await ada.post('/itsm/incidents/{id}/comments', { params, body: { body: 'Looking at it' } })
    await ada.post('/itsm/incidents/{id}/major/propose', { params, body: { reason: 'All shops' } })
    await grace.post('/itsm/incidents/{id}/major/accept', { params, body: {} })
    await grace.post('/itsm/incidents/{id}/major/demote', { params, body: {} })
    const resolution = { resolutionCode: 'fixed' as const, resolutionNotes: 'Rotated the logs' }
    await ada.post('/itsm/incidents/{id}/resolve', { params, body: resolution })
    await ada.post('/itsm/incidents/{id}/reopen', { params, body: {} })
    await ada.post('/itsm/incidents/{id}/resolve', { params, body: resolution })
    const { data: closed } = await ada.post('/itsm/incidents/{id}/close', { params, body: {} })
    expect(closed).toMatchObject({ status: 'closed', priority: 'P1', majorState: 'demoted', reopenCount: 1 })
    for (const type of declared('incident').filter((each) => each !== breach)) await arrived(type)
  })

  const window = { plannedStart: '2030-03-02T20:00:00.000Z', plannedEnd: '2030-03-02T22:00:00.000Z' }
  const plans = { implementationPlan: 'Swap the disks.', backoutPlan: 'Swap them back.' }
  type Draft = { type: 'standard' | 'normal' | 'emergency'; templateId?: string; ciIds?: string[] }
  const draft = async (fields: Draft) => {
    const body = { title: 'New disks', ...window, ...plans, ...fields }
    return { path: { id: (await ada.post('/itsm/changes', { body })).data.id } }
  }

  test('of a change', async () => {
    const params = await draft({ type: 'normal' })
    await ada.patch('/itsm/changes/{id}', { params, body: { testPlan: 'Read what was written.' } })
    await ada.post('/itsm/changes/{id}/submit', { params, body: {} })
    await grace.post('/itsm/changes/{id}/reject', { params, body: { reason: 'Say when.' } })
    await ada.post('/itsm/changes/{id}/submit', { params, body: {} })
    await expect(ada.post('/itsm/changes/{id}/approve', { params, body: {} })).rejects.toThrow(
      /cannot decide|cannot approve/,
    )
    const { data: assessed } = await grace.post('/itsm/changes/{id}/approve', { params, body: {} })
    const approvalId = assessed.approvals.find(({ status }) => status === 'pending')?.id ?? ''
    await expect(grace.post('/itsm/changes/{id}/approve', { params, body: {} })).rejects.toThrow(approvalId)
    const { data: approved } = await grace.post('/itsm/changes/{id}/approve', {
      params,
      body: { approvalId },
    })
    expect(approved.status).toBe('scheduled')
    await ada.post('/itsm/changes/{id}/implement', { params, body: {} })
    await ada.post('/itsm/changes/{id}/complete', { params, body: { outcome: 'successful' } })
    const { data: closed } = await grace.post('/itsm/changes/{id}/close', { params, body: {} })
    expect(closed).toMatchObject({ status: 'closed', outcome: 'successful' })

    const canceled = await draft({ type: 'emergency' })
    await ada.post('/itsm/changes/{id}/cancel', { params: canceled, body: { reason: 'Not needed.' } })

    // Two changes of the same item at the same time: a notification about the second is sent for the first.
    const body = { class: 'server', name: 'db-1', status: 'operational' as const }
    const ciIds = [(await ada.post('/cmdb/items', { body })).data.id]
    const template = { name: 'Swap a disk', impact: 'low' as const, ...plans }
    const { id: templateId } = (await ada.post('/itsm/change-templates', { body: template })).data
    const standard = { type: 'standard' as const, templateId, ciIds }
    const [first, second] = [await draft(standard), await draft(standard)]
    for (const each of [first, second])
      await ada.post('/itsm/changes/{id}/submit', { params: each, body: {} })
    await arrived('change.conflict_detected')
    await ada.post('/itsm/changes/{id}/implement', { params: first, body: {} })
    await ada.post('/itsm/changes/{id}/rollback', {
      params: first,
      body: { closeNotes: 'The new ones are slow.' },
    })
    for (const type of declared('change')) await arrived(type)
  })
})

test('an employee requests a laptop, which is approved and fulfilled', async () => {
  const { data: item } = await ada.post('/catalog/items', {
    body: {
      name: 'Laptop',
      formSchema: {
        type: 'object',
        properties: {
          size: { type: 'string', enum: ['13', '15'] },
          reason: { type: 'string', maxLength: 100 },
        },
        required: ['size'],
      },
      approvals: [{ name: 'Budget' }],
      tasks: [
        { key: 'order', name: 'Order it' },
        { key: 'set_up', name: 'Set it up', dependsOn: ['order'] },
      ],
    },
  })
  await ada.post('/catalog/items/{id}/activate', { params: { path: { id: item.id } } })
  const ask = (formData: Record<string, unknown>) =>
    ada.post('/catalog/requests', { body: { itemId: item.id, formData } })
  await expect(ask({ size: '17' })).rejects.toMatchObject({
    code: 'validation_failed',
    details: [{ path: '/formData/size', params: { schemaPath: '/properties/size/enum' } }],
  })
  const { data: request } = await ask({ size: '13' })
  const params = { path: { id: request.id } }
  const { data: approved } = await grace.post('/catalog/requests/{id}/approve', { params, body: {} })
  expect(approved.status).toBe('fulfilling')
  for (const task of approved.tasks) {
    const path = { id: request.id, taskId: task.id }
    await ada.post('/catalog/requests/{id}/tasks/{taskId}/complete', { params: { path } })
  }
  expect((await ada.get('/catalog/requests/{id}', { params })).data.status).toBe('closed_complete')
})

test('resolving a problem resolves its incidents on hold', async () => {
  const body = { title: 'Checkout answers 502' }
  const { id } = (await ada.post('/itsm/incidents', { body })).data
  const params = { path: { id } }
  const { data: problem } = await ada.post('/itsm/incidents/{id}/problem', { params, body: {} })
  const held = { status: 'on_hold' as const, holdReason: 'awaiting_problem' as const }
  await ada.patch('/itsm/incidents/{id}', { params, body: held })
  const at = { params: { path: { id: problem.id } } }
  await ada.patch('/itsm/problems/{id}', { ...at, body: { rootCause: 'The pool leaks.' } })
  await ada.post('/itsm/problems/{id}/assess', { ...at, body: {} })
  await ada.post('/itsm/problems/{id}/analyze', { ...at, body: {} })
  await ada.post('/itsm/problems/{id}/fix', { ...at, body: {} })
  const resolution = { resolution: 'fix_applied' as const, resolutionNotes: 'Connections are returned.' }
  await ada.post('/itsm/problems/{id}/resolve', { ...at, body: resolution })
  await waitFor(async () => (await ada.get('/itsm/incidents/{id}', { params })).data.status === 'resolved')
})

test('the allowed actions of an incident match the published state machine', async () => {
  const { data } = await ada.get('/itsm/state-machines')
  const incident = data.find(({ entity }) => entity === 'incident')
  const opened = (await ada.post('/itsm/incidents', { body: { title: 'Slow' } })).data
  const here = incident?.transitions.filter(({ from }) => from === opened.status).map(({ action }) => action)
  expect(opened.allowedActions.toSorted()).toEqual(here?.toSorted())
})

// Last: the target passes while the other tests run.
test('a webhook receives every declared event of a breached SLA target, once', async () => {
  const { data } = await arrived('sla.breached')
  await arrived(breach)
  expect(data).toMatchObject({ entityType: 'incident', entityId: lateId, metric: 'resolution' })
  const params = { path: { id: lateId } }
  const { timers } = (await ada.get('/itsm/incidents/{id}/sla', { params })).data
  expect(timers).toMatchObject([{ breached: true, breachedAt: data.dueAt }])
  const breaches = delivered().filter(({ event }) => event === breach)
  expect(new Set(breaches.map(({ id }) => id)).size).toBe(1)
})
