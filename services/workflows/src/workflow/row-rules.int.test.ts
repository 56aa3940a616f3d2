import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventExample, natsNames, newId, Workflow, WorkflowWithDraft } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { signedHeaders, testNatsUrl, testPrincipal, waitFor } from '@opsplane/testing'
import { type DefinitionInput, startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

const rule = { environment: 'production' as const, table: 'assets', role: 'agent' }

let fixture: WorkflowsFixture
let link: NatsLink
beforeAll(async () => {
  const log = createLogger({ service: 'test', level: 'silent' })
  link = connectNats({ url: testNatsUrl(), name: 'test', log })
  fixture = await startWorkflows()
  fixture.settings.readRules = [rule]
})
afterAll(async () => {
  await link?.close()
  await fixture?.stop()
})

const workspaceId = newId('workspace')
const as = (role: string, userId = newId('user')) =>
  fixture.service.as(testPrincipal({ workspaceId, role, userId }))
const create = async (definition: DefinitionInput) =>
  (await as('developer').post('/workflows', { name: 'Records', definition })).data(WorkflowWithDraft).id

const steps: DefinitionInput['steps'] = [{ id: 'one', type: 'transform', value: 1 }]
const triggered = (filter?: Record<string, string>): DefinitionInput => ({
  trigger: { type: 'event', events: ['record.created'], ...(filter && { filter }) },
  steps,
})
const awaiting = (tableSlug: string): DefinitionInput => ({
  steps: [
    { id: 'wait', type: 'wait', event: { types: ['record.*'], filter: { 'data.tableSlug': tableSlug } } },
  ],
})

it.each<[string, DefinitionInput, boolean]>([
  ['a trigger', triggered(), true],
  ['a trigger on the table', triggered({ 'data.tableSlug': 'assets' }), true],
  ['a trigger on another table', triggered({ 'data.tableSlug': 'orders' }), false],
  ['a wait for the table', awaiting('assets'), true],
  ['a wait for whichever table', awaiting('{{ input.table }}'), true],
  ['a wait for another table', awaiting('orders'), false],
])(
  'a workflow cannot be published by a user from whom row rules hide its events: %s',
  async (_what, definition, hidden) => {
    const id = await create(definition)
    const reply = await as('agent').post(`/workflows/${id}/publish`, { activate: true })
    if (hidden)
      expect(reply.error()).toMatchObject({
        code: 'forbidden',
        details: [{ code: 'row_rule', params: { rules: [{ table: 'assets', role: 'agent' }] } }],
      })
    else expect(reply.status).toBe(200)
    expect((await as('developer').post(`/workflows/${id}/publish`, { activate: true })).status).toBe(200)
  },
)

it('a workflow is suspended when row rules start to hide its events from its owner', async () => {
  const owner = newId('user')
  const api = as('developer', owner)
  const publish = async (definition: DefinitionInput) => {
    const id = await create(definition)
    expect((await api.post(`/workflows/${id}/publish`, { activate: true })).status).toBe(200)
    return id
  }
  const [hidden, other] = [
    await publish(triggered()),
    await publish(triggered({ 'data.tableSlug': 'orders' })),
  ]
  fixture.settings.roles.set(owner, 'developer')
  fixture.settings.readRules = [rule, { ...rule, role: 'developer' }]
  const event = { ...eventExample('table.updated'), id: newId('event'), workspaceId }
  const [subject, body] = [natsNames(fixture.service.natsPrefix).eventSubject(event), JSON.stringify(event)]
  const headers = signedHeaders({ subject, body }, { messageId: event.id })
  await (await link.ready()).request(subject, body, { headers, timeout: 60_000 })
  const read = async (id: string) => (await api.get(`/workflows/${id}`)).data(Workflow.loose())
  await waitFor(async () => (await read(hidden)).status === 'inactive')
  expect(await read(hidden)).toMatchObject({ deactivatedReason: 'owner_rights' })
  expect((await read(other)).status).toBe('active')
})
