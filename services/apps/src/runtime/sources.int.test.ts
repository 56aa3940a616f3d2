import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { AppActionAnswer } from '@opsplane/contracts'
import { type AppsFixture, type RunningApp, type SourceBody, startApps } from '../fixture/apps-fixture.js'

const reportId = 'rpt_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const workflowId = 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const runId = 'run_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const times = { createdAt: '2026-03-01T10:00:00.000Z', updatedAt: '2026-03-01T10:00:00.000Z' }

const sources: SourceBody[] = [
  {
    name: 'byTeam',
    binding: { kind: 'report', report: 'By team', input: { severity: '{{ params.severity }}' } },
    params: { severity: { type: 'text', required: true, enum: ['critical', 'low'] } },
  },
  {
    name: 'order',
    binding: {
      ...{ kind: 'workflow', workflow: 'Order', waitSeconds: 5 },
      input: { item: '{{ params.item }}', by: '{{ user.id }}' },
    },
    params: { item: { type: 'text', required: true } },
  },
]

const answered = {
  runId,
  created: true,
  ended: true,
  status: 'completed',
  output: { order: 17 },
  error: null,
}

let fixture: AppsFixture
let me: RunningApp
beforeAll(async () => {
  fixture = await startApps()
  Object.assign(fixture.platform.answers, {
    listReports: () => ({
      data: [
        {
          ...{ id: reportId, name: 'By team', description: '', version: 2, ownerId: 'usr_1', ...times },
          query: { dataset: 'incidents', measures: ['incidents'] },
          parameters: [{ name: 'severity', type: 'text', required: true, description: '' }],
        },
      ],
    }),
    listDatasets: () => ({
      data: [
        {
          ...{ name: 'incidents', label: 'Incidents', description: '', permission: 'itsm:read' },
          ...{ dimensions: [], measures: [], timeFields: [], columns: [] },
        },
      ],
    }),
    listWorkflows: () => ({
      data: [
        {
          ...{
            id: workflowId,
            name: 'Order',
            description: '',
            status: 'active',
            publishedVersion: 3,
            latestVersion: 3,
          },
          ...{
            draftRevision: 1,
            draftChanged: false,
            triggerType: 'manual',
            ownerId: 'usr_1',
            deactivatedReason: null,
          },
          ...{ version: 4, allowedActions: ['trigger'], ...times },
        },
      ],
    }),
  })
  const app = await fixture.build(sources)
  const deployed = await fixture.deploy(app.id)
  expect(deployed).toMatchObject({
    status: 'completed',
    pinned: [
      { source: 'byTeam', kind: 'report', id: reportId, version: 2 },
      { source: 'order', kind: 'workflow', id: workflowId, version: 3 },
    ],
  })
  expect([...deployed.permissions].sort()).toEqual(['analytics:read', 'itsm:read', 'workflows:run'])
  me = fixture.person(app.slug)
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.platform.calls.length = 0
  fixture.platform.answers.runReport = () => ({
    data: {
      ...{ columns: [], rows: [{ team: 'network', incidents: 4 }], truncated: false, totals: null },
      ...{ range: null, dataVersion: 'incidents.1', dataAsOf: times.createdAt },
    },
  })
  fixture.platform.answers.triggerWorkflow = () => ({ data: answered })
})

const order = (params: object) => me.act({ source: 'order', params })

describe('a report', () => {
  it('returns the rows of the pinned report for the declared parameters', async () => {
    expect(await me.data('byTeam', { severity: 'critical' })).toMatchObject({
      rows: [{ team: 'network', incidents: 4 }],
    })
    expect(fixture.platform.calls).toMatchObject([
      { operationId: 'runReport', params: { id: reportId }, body: { parameters: { severity: 'critical' } } },
    ])
  })

  it.each([[{}], [{ severity: 'high' }], [{ severity: 'low', query: {} }]])(
    'is not requested with the parameters %j',
    async (params) => {
      expect(await me.data('byTeam', params)).toMatchObject({ error: { code: 'validation_failed' } })
      expect(fixture.platform.calls).toEqual([])
    },
  )

  it('returns an error for its part of the page when the user may not read it', async () => {
    fixture.platform.answers.runReport = () => ({ status: 403, code: 'insufficient_scope' })
    expect(await me.data('byTeam', { severity: 'low' })).toMatchObject({
      error: { code: 'insufficient_scope' },
    })
  })
})

describe('a workflow', () => {
  it('runs with the input evaluated on the server, and returns its result when it ends', async () => {
    const { value } = (await order({ item: 'Laptop' })).data(AppActionAnswer)
    expect(value).toEqual({ runId, ended: true, status: 'completed', output: { order: 17 } })
    expect(fixture.platform.calls).toMatchObject([
      {
        ...{ operationId: 'triggerWorkflow', params: { id: workflowId }, query: { wait: '5' } },
        body: { input: { item: 'Laptop', by: fixture.principal.userId } },
      },
    ])
  })

  it('returns no error while it is still running, and an error once it has failed', async () => {
    const going = { ...answered, ended: false, status: null, output: null }
    fixture.platform.answers.triggerWorkflow = () => ({ data: going })
    const { value } = (await order({ item: 'Laptop' })).data(AppActionAnswer)
    expect(value).toMatchObject({ runId, ended: false })
    const error = { code: 'step_failed', message: 'out of stock', step: 'reserve' }
    const failed = { ...answered, status: 'failed', output: null, error }
    fixture.platform.answers.triggerWorkflow = () => ({ data: failed })
    expect((await order({ item: 'Laptop' })).error()).toMatchObject({ code: 'upstream_error' })
  })

  it('is not started by loading a page, nor with missing, invalid or undeclared parameters', async () => {
    expect(await me.data('order', { item: 'Laptop' })).toMatchObject({ error: { code: 'forbidden' } })
    for (const params of [{}, { item: 5 }, { item: 'Laptop', by: 'usr_other' }])
      expect((await order(params)).error().code).toBe('validation_failed')
    expect(fixture.platform.calls).toEqual([])
  })
})
