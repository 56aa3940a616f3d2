import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newId, Workflow, WorkflowExport, WorkflowWithDraft } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import {
  type DefinitionInput,
  hello,
  startWorkflows,
  type WorkflowsFixture,
} from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
let api: ApiClient
const principal = testPrincipal()
beforeAll(async () => {
  fixture = await startWorkflows()
  api = fixture.service.as(principal)
})
afterAll(() => fixture?.stop())

const greeting = (value: string): DefinitionInput => ({ steps: [{ id: 'greet', type: 'transform', value }] })
const create = async (definition: DefinitionInput = hello, name = 'Greet') =>
  (await api.post('/workflows', { name, definition })).data(WorkflowWithDraft)
const act = async (id: string, action: string, body: object = {}) =>
  (await api.post(`/workflows/${id}/${action}`, body)).data(Workflow)
const patch = (id: string, body: object) => api.send('PATCH', `/workflows/${id}`, { body })

it('a workflow is exported with connector names, and promoted to another environment as a draft', async () => {
  const [source, target] = [newId('connector'), newId('connector')]
  const [only, there] = [newId('connector'), 'Chat']
  fixture.settings.connectors.set(
    'production',
    new Map([
      ['Chat', source],
      ['Mail', only],
    ]),
  )
  fixture.settings.connectors.set('staging', new Map([[there, target]]))
  const callsOf = (connector: string) => ({ type: 'connector', connector, action: 'send' }) as const
  const moved = await create(
    {
      steps: [
        { id: 'chat', ...callsOf(source) },
        { id: 'mail', ...callsOf(only) },
      ],
    },
    'Moved',
  )
  const promote = (environment: string) => api.post(`/workflows/${moved.id}/promote`, { environment })
  expect((await promote('staging')).error().code).toBe('invalid_state_transition')
  await act(moved.id, 'publish')
  await patch(moved.id, { definition: greeting('drafted') })
  const exported = async (query: string) =>
    (await api.get(`/workflows/${moved.id}/export${query}`)).data(WorkflowExport)
  expect(await exported('')).toMatchObject({ connectors: {}, definition: { steps: [{ value: 'drafted' }] } })
  expect(await exported('?version=1')).toMatchObject({
    ...{ name: 'Moved', connectors: { [source]: 'Chat', [only]: 'Mail' } },
    definition: { steps: [{ connector: source }, { connector: only }] },
  })
  expect((await api.get(`/workflows/${moved.id}/export?version=2`)).status).toBe(404)

  const taken = (await promote('staging')).data(WorkflowWithDraft)
  expect(taken).toMatchObject({
    ...{ name: 'Moved', publishedVersion: null, status: 'inactive' },
    draft: { steps: [{ connector: target }, { connector: only }] },
    problems: [{ step: 'mail', path: '/steps/1/connector', code: 'unknown_connector' }],
  })
  expect(taken.problems[0]?.message).toContain('Mail')
  expect(taken.id).not.toBe(moved.id)
  fixture.settings.connectors.get('staging')?.set('Mail', newId('connector'))
  expect((await promote('staging')).data(WorkflowWithDraft)).toMatchObject({
    id: taken.id,
    draftRevision: 2,
    problems: [],
  })
  expect((await promote('production')).error().code).toBe('conflict')
  fixture.settings.reach = ['production']
  expect((await promote('development')).error().code).toBe('forbidden')
  fixture.settings.reach = null
})

it('a promoted workflow calls the sub-workflows of the same names, and concurrent promotions create it once', async () => {
  const child = await create(greeting('child'), 'Child of two')
  await act(child.id, 'publish')
  const parent = await create(
    { steps: [{ id: 'sub', type: 'workflow', workflow: child.id }] },
    'Parent of one',
  )
  await act(parent.id, 'publish')
  const promote = async (id: string) =>
    (await api.post(`/workflows/${id}/promote`, { environment: 'staging' })).data(WorkflowWithDraft)
  const early = await promote(parent.id)
  expect(early.problems).toMatchObject([{ step: 'sub', path: '/steps/0/workflow', code: 'unknown_workflow' }])
  const made = await Promise.all(Array.from({ length: 4 }, () => promote(child.id)))
  expect(new Set(made.map(({ id }) => id)).size).toBe(1)
  const later = await promote(parent.id)
  expect(later).toMatchObject({ id: early.id, draft: { steps: [{ workflow: made[0]?.id }] } })
  const staging = fixture.service.as({ ...principal, environment: 'staging' })
  expect((await staging.post(`/workflows/${made[0]?.id}/publish`, {})).status).toBe(200)
  expect((await promote(parent.id)).problems).toEqual([])
  // After it is renamed, a promotion creates another one.
  await staging.send('PATCH', `/workflows/${made[0]?.id}`, { body: { name: 'Kept' } })
  expect((await promote(child.id)).id).not.toBe(made[0]?.id)
})
