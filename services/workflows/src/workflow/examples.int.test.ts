import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { NewWorkflow, TriggeredRun, Workflow, WorkflowWithDraft } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { hello, startWorkflows, type WorkflowsFixture } from '../fixture/workflows-fixture.js'

const folder = fileURLToPath(new URL('../../../../docs/examples/workflows/', import.meta.url))
const placeholder = 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const incident = { id: 'inc_1', number: 'INC-1', title: 'Mail is down', severity: 'critical' }

/** Requests to test the draft of each example, with the expected outcome. */
const runs: Record<string, [body: object, outcome: object][]> = {
  'escalate-unassigned-incident': [
    [
      {
        event: { data: incident },
        pins: { grace: null, incident: { data: { assigneeId: null } }, comment: {}, tell: {} },
      },
      { status: 'completed', output: 'escalated' },
    ],
    [
      { event: { data: incident }, pins: { grace: null, incident: { data: { assigneeId: 'usr_1' } } } },
      { status: 'completed', output: 'assigned' },
    ],
  ],
  'approve-change-in-chat': [true, false].map((approved) => [
    {
      event: { data: { id: 'chg_1', number: 'CHG-1', title: 'New mail server', risk: 'low' } },
      pins: { ask: {}, decision: { approved }, approve: {}, reject: {} },
    },
    { status: 'completed', output: approved },
  ]),
  'sync-table': [
    [
      {
        pins: {
          fetch: { body: { customers: [{ id: 1, name: 'Ada', email: 'ADA@example.com' }] } },
          write: {},
        },
      },
      { status: 'completed', output: { customers: 1 } },
    ],
  ],
  'nightly-report': [
    [
      { pins: { open: { data: [incident, { severity: 'low' }, { severity: 'low' }] }, send: {} } },
      { status: 'completed', output: { critical: 1, low: 2 } },
    ],
  ],
  'hook-opens-incident': [
    [
      {
        event: { body: { status: 'firing', alert: 'disk full', host: 'db1', severity: 'page' } },
        pins: { incident: { data: incident } },
      },
      { status: 'completed', output: 'INC-1' },
    ],
    [{ event: { body: { status: 'resolved' } } }, { status: 'completed', output: 'not firing' }],
  ],
  'fan-out-over-records': [
    [
      {
        input: { table: 'sites' },
        pins: { sites: { data: [{ name: 'a' }, { name: 'b' }] }, ask: { status: 503 } },
      },
      { status: 'completed', output: { down: ['a', 'b'] } },
    ],
  ],
  'wait-for-event': [
    [
      { input: { order: 'rec_1' }, pins: { paid: { data: {} }, ship: { id: 'evt_1' } } },
      { status: 'completed' },
    ],
    [
      { input: { order: 'rec_1' }, pins: { paid: null } },
      { status: 'failed', error: { message: 'Order rec_1 was not paid within a day.', step: 'late' } },
    ],
  ],
  'sub-workflow': [
    [
      { input: { person: 'Ada', systems: ['mail', 'chat'] }, pins: {} },
      { status: 'completed', output: ['Hello Ada', 'Hello Ada'] },
    ],
  ],
  'retry-and-alert': [
    [
      { event: { payload: { id: 'i-1', amount: 5 } }, pins: { charge: { body: { id: 'ch-1' } } } },
      { status: 'completed', output: 'ch-1' },
    ],
  ],
  'approval-with-reminder': [
    [{ input: { amount: 20, reason: 'books' } }, { status: 'completed', output: { approved: true } }],
    [
      { input: { amount: 200, reason: 'a chair' }, pins: { decision: { approved: false } } },
      { status: 'completed', output: { approved: false } },
    ],
  ],
}

let fixture: WorkflowsFixture
let api: ApiClient
let called: string
beforeAll(async () => {
  fixture = await startWorkflows()
  api = fixture.service.as(testPrincipal())
  const steps = [{ id: 'greet', type: 'transform', value: 'Hello {{ input.person }}' }]
  const made = await api.post('/workflows', { name: 'Grant', definition: { ...hello, steps } })
  called = made.data(WorkflowWithDraft).id
  expect((await api.post(`/workflows/${called}/publish`, {})).data(Workflow).publishedVersion).toBe(1)
})
afterAll(() => fixture?.stop())

const files = readdirSync(folder).filter((name) => name.endsWith('.json'))

it('there are ten examples, each with test runs', () => {
  expect(files.map((name) => name.replace('.json', ''))).toEqual(Object.keys(runs).sort())
  expect(files).toHaveLength(10)
})

it.each(files)('%s is valid, can be published, and produces the expected outcome', async (file) => {
  const text = readFileSync(`${folder}${file}`, 'utf8').replaceAll(placeholder, called)
  const workflow = NewWorkflow.parse(JSON.parse(text))
  const connectors = text.match(/con_[0-9A-Z]{26}/g) ?? []
  fixture.settings.connectors.set('production', new Map(connectors.map((each) => [each, each])))
  fixture.settings.actions = ['post_message', 'send']
  const { id, problems } = (await api.post('/workflows', workflow)).data(WorkflowWithDraft)
  expect(problems).toEqual([])
  expect((await api.post(`/workflows/${id}/publish`, {})).status).toBe(200)
  for (const [body, outcome] of runs[file.replace('.json', '')] ?? []) {
    const tested = (await api.post(`/workflows/${id}/test?wait=20`, body)).data(TriggeredRun)
    expect(tested).toMatchObject({ ended: true, ...outcome })
  }
})
