import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { newId, SkippedTrigger, TriggeredRun, WorkflowHook, WorkflowWithDraft } from '@opsplane/contracts'
import { causeHeader, createCauseSigner, generateServiceKeys, maxCausationDepth } from '@opsplane/http'
import { type ApiClient, testKeys, testPrincipal } from '@opsplane/testing'
import { startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
let api: ApiClient
let id: string
let path: string
beforeAll(async () => {
  fixture = await startWorkflows()
  api = fixture.service.as(testPrincipal())
})
beforeEach(async () => {
  const definition = { trigger: { type: 'webhook' }, steps: [{ id: 'one', type: 'transform', value: 1 }] }
  id = (await api.post('/workflows', { name: 'Hooked', definition })).data(WorkflowWithDraft).id
  expect((await api.post(`/workflows/${id}/publish`, { activate: true })).status).toBe(200)
  path = `/origin${(await api.get(`/workflows/${id}/hook`)).data(WorkflowHook).path}`
})
afterAll(() => fixture?.stop())

const { privateKey } = testKeys('dispatcher')
const causedBy = createCauseSigner({ service: 'dispatcher', privateKey })
const call = (headers: Record<string, string>) =>
  fixture.service.as().send('POST', path, { body: {}, headers })
const started = async (headers: Record<string, string>) => (await call(headers)).data(TriggeredRun).runId
const originOf = async (runId: string) => {
  const [row] = await fixture.service.sql`
    select (entry->>'depth')::int as depth, entry->>'causationId' as cause from run_entries
    where run_id = ${runId} and seq = 0`
  return row
}

it('an inbound webhook is rejected beyond the maximum depth of causes, and the reason is recorded', async () => {
  let runId = await started({})
  expect(await originOf(runId)).toEqual({ depth: 0, cause: null })
  for (let depth = 1; depth <= maxCausationDepth; depth++) {
    const cause = runId
    runId = await started(causedBy(cause))
    expect(await originOf(runId)).toEqual({ depth, cause })
  }
  const refused = await call({ ...causedBy(runId), 'webhook-id': 'the last' })
  expect(refused.error()).toMatchObject({ code: 'conflict', details: [{ code: 'too_deep' }] })
  const { items } = (await api.get(`/workflows/${id}/skipped-triggers`)).page(SkippedTrigger)
  expect(items).toMatchObject([{ triggerType: 'webhook', reason: 'too_deep' }])
  // A call without a cause starts at depth 0, even if one with the same id was rejected before.
  expect(await originOf(await started({ 'webhook-id': 'the last' }))).toMatchObject({ depth: 0 })
})

it('an inbound webhook ignores a cause that cannot be verified or no longer exists', async () => {
  let deepest = await started({})
  for (let depth = 1; depth <= maxCausationDepth; depth++) deepest = await started(causedBy(deepest))
  const other = createCauseSigner({ service: 'dispatcher', privateKey: generateServiceKeys().privateKey })
  const forged = [deepest, `dispatcher:${deepest}:${'A'.repeat(86)}`, other(deepest)[causeHeader] ?? '']
  for (const header of forged)
    expect(await originOf(await started({ [causeHeader]: header }))).toEqual({ depth: 0, cause: null })
  expect(await originOf(await started(causedBy(newId('run'))))).toMatchObject({ depth: 0 })
})
