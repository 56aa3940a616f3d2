import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { PendingApproval, Run, RunDetail } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { type Definition, type RunService, runService } from '../fixture/run-service.js'
import { effectFailure } from './perform/effect.js'
import type { Runs } from './runs.js'

let fixture: RunService
let service: TestService
let runs: Runs
let api: ApiClient

const principal = (more = {}) => testPrincipal({ workspaceId: fixture.tenant.workspaceId, ...more })

beforeAll(async () => {
  const refuses = () => Promise.reject(effectFailure('not_there', 'This test has no such effect.'))
  fixture = runService({
    leaseMs: 600_000,
    effects: { http: refuses, api: refuses, connector: refuses, artifact: refuses, publish: refuses },
  })
  service = await startTestService(fixture.service)
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
  api = service.as(principal())
})
afterAll(() => service?.stop())

const started = async (definition: Definition, input: unknown = null) =>
  (await runs.start(fixture.define(definition)({ input }))).runId
const ended = (runId: string) => runs.waitForEnd(runId, 60_000)
const detail = async (runId: string) => (await api.get(`/runs/${runId}`)).data(RunDetail)
const reached = (runId: string, status: string) =>
  waitFor(async () => {
    const run = await detail(runId)
    expect(run.status).toBe(status)
    return run
  })
const eventsOf = async (runId: string) =>
  (await service.sql`select type from events where stream_id = ${runId} order by position`).map(
    ({ type }) => type,
  )

test('an approval can be decided only by its two approvers, each once', async () => {
  const [ada, bob] = ['usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0A', 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0B']
  const as = (userId: string, role: string) =>
    service.as(principal({ userId, role, permissions: ['runs:read'] }))
  const runId = await started({
    steps: [
      { id: 'ok', type: 'approval', title: 'Go?', approvers: { users: [ada], roles: ['admin'] }, quorum: 2 },
      { id: 'after', type: 'transform', value: '{{ steps.ok.output.approved }}' },
    ],
  })
  await reached(runId, 'paused')
  const mine = async () =>
    (await as(bob, 'admin').get('/runs/approvals')).page(PendingApproval).items.map((each) => each.runId)
  const decide = (client: ApiClient) => client.post(`/runs/${runId}/resume`, { decision: 'approve' })
  expect((await decide(as('usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0C', 'viewer'))).error().code).toBe('forbidden')
  expect((await decide(as(ada, 'viewer'))).data(Run)).toMatchObject({ status: 'paused' })
  expect((await decide(as(ada, 'admin'))).error().code).toBe('invalid_state_transition')
  expect(await mine()).toEqual([runId])
  await decide(as(bob, 'admin'))
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: true })
  expect(await mine()).toEqual([])
  expect(await eventsOf(runId)).toEqual(
    ['run_started', 'approval_requested', 'run_paused', 'run_resumed', 'run_completed'].map(
      (end) => `workflow.${end}`,
    ),
  )
})

test('approvers who have not decided are reminded, with the title and deadline of the approval', async () => {
  const [ada, bob] = ['usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0A', 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0B']
  const runId = await started(
    {
      steps: [
        {
          ...({ id: 'ok', type: 'approval', title: 'Roll out {{ input.what }}?', quorum: 2 } as const),
          ...{
            approvers: { users: [ada, bob], roles: ['admin'] },
            reminderSeconds: 1,
            deadlineSeconds: 3_600,
          },
        },
      ],
    },
    { what: 'v2' },
  )
  await reached(runId, 'paused')
  const as = service.as(principal({ userId: ada, permissions: ['runs:read'] }))
  expect((await as.post(`/runs/${runId}/resume`, { decision: 'approve' })).status).toBe(200)
  const notices = (type: string) => service.sql`
    select data->'approval' as approval, data->'after'->>'status' as status from events
    where stream_id = ${runId} and type = ${type} order by position`
  const asked = { step: 'ok', title: 'Roll out v2?', roles: ['admin'], dueAt: expect.any(String) }
  expect(await notices('workflow.approval_requested')).toEqual([
    { status: 'paused', approval: { ...asked, users: [ada, bob] } },
  ])
  await waitFor(async () => {
    const reminded = await notices('workflow.approval_reminded')
    // Reminders sent before her decision were for both approvers.
    expect(reminded.slice(-2)).toEqual(
      Array(2).fill({ status: 'paused', approval: { ...asked, users: [bob] } }),
    )
    return true
  })
  await api.post(`/runs/${runId}/cancel`, {})
})
