import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Run, RunDetail, Workflow, WorkflowWithDraft } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import { hello, startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
let api: ApiClient
const principal = testPrincipal()
beforeAll(async () => {
  fixture = await startWorkflows()
  api = fixture.service.as(principal)
})
afterAll(() => fixture?.stop())

const listRuns = async (query: string, by = api) => (await by.get(`/runs?${query}`)).page(Run)
const create = async (name: string, definition: object) =>
  (await api.post('/workflows', { name, definition })).data(WorkflowWithDraft)

/** Publishes a workflow that starts when another one with this name is created. */
async function publishFollower(name: string): Promise<string> {
  const filter = { event: 'workflow.created', 'data.name': name }
  const trigger = { type: 'event', events: ['workflow.*'], filter }
  const { id } = await create('Follower', { trigger, steps: [{ id: 'tell', type: 'transform', value: 1 }] })
  return (await api.post(`/workflows/${id}/publish`, { activate: true })).data(Workflow).id
}

it('lists the runs that an event has started, page by page and in its own workspace only', async () => {
  const followers = [await publishFollower('Followed'), await publishFollower('Followed')]
  await create('Followed', hello)
  const started = await waitFor(async () => {
    const { items } = await listRuns('triggerType=event')
    return items.length === 2 ? items : undefined
  })
  expect(new Set(started.map(({ workflowId }) => workflowId))).toEqual(new Set(followers))
  const { trigger } = (await api.get(`/runs/${started[0]?.id}`)).data(RunDetail)
  const ofEvent = `triggerId=${trigger.id}`
  const idsOf = (runs: readonly Run[]) => runs.map(({ id }) => id)

  expect(idsOf((await listRuns(ofEvent)).items)).toEqual(idsOf(started))
  const page = await listRuns(`${ofEvent}&limit=1`)
  const next = await listRuns(`${ofEvent}&limit=1&after=${page.pagination.nextCursor}`)
  expect(idsOf([...page.items, ...next.items])).toEqual(idsOf(started))
  expect(next.pagination.hasMore).toBe(false)
  const ofOne = (await api.get(`/workflows/${started[1]?.workflowId}/runs?${ofEvent}`)).page(Run)
  expect(idsOf(ofOne.items)).toEqual([started[1]?.id])

  for (const none of [`${ofEvent}&triggerType=manual`, `${ofEvent}&status=failed`, 'triggerId=evt_unknown'])
    expect((await listRuns(none)).items).toEqual([])
  for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }])
    expect((await listRuns(ofEvent, fixture.service.as(other))).items).toEqual([])
  const writer = fixture.service.as({ ...principal, permissions: ['workflows:write'] })
  expect((await writer.get(`/runs?${ofEvent}`)).error().code).toBe('insufficient_scope')
  for (const wrong of ['', 'x'.repeat(201)])
    expect((await api.get(`/runs?triggerId=${wrong}`)).error().details[0]?.path).toBe('/triggerId')
})
