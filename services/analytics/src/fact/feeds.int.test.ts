import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type DeliveryChange, type ExecutionChange, newId, QueryAnswer, Report } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { type Analytics, isRebuilt, startAnalytics, sumUpAll, waitForFacts } from './facts.fixture.js'

const ada = testPrincipal()
const tenant = { workspaceId: ada.workspaceId ?? '', environment: 'production' } as const
let service: Analytics

beforeAll(async () => {
  service = await startAnalytics()
})
afterAll(() => service?.stop())

const now = Date.now()
const at = (ms: number) => new Date(now - 60_000 + ms).toISOString()

const delivery = (fields: Partial<DeliveryChange> = {}): DeliveryChange => ({
  ...{
    id: newId('delivery'),
    ...tenant,
    webhookId: 'wh_1',
    eventType: 'incident.created',
    host: 'example.com',
  },
  ...{ status: 'succeeded', attempts: 1, isReplay: false, createdAt: at(0), lastAttemptAt: at(40) },
  ...{ responseStatus: 200, durationMs: 10, errorKind: null },
  ...fields,
})
const execution = (fields: Partial<ExecutionChange> = {}): ExecutionChange => ({
  ...{ id: newId('execution'), ...tenant, artifactSlug: 'triage', artifactVersion: 1, artifactType: 'api' },
  ...{ triggerType: 'api', status: 'completed', isReplay: false, errorCode: null, durationMs: 5 },
  ...{ memoryPeakMb: 8, startedAt: at(0), completedAt: at(5) },
  ...fields,
})

const reported = async (query: object) => {
  const range = { last: 2, unit: 'day' }
  const body = { name: 'Report', query: { measures: [], range, ...query } }
  const { id } = (await service.as(ada).post('/analytics/reports', body)).data(Report)
  return async () => (await service.as(ada).post(`/analytics/reports/${id}/run`, {})).data(QueryAnswer)
}
const rows = async (table: string) => [...(await service.sql.unsafe(`select * from ${table} order by id`))]

const retried = delivery({ status: 'retrying', lastAttemptAt: at(20), responseStatus: 503 })

describe('facts of deliveries and executions', () => {
  it('count each delivery once by its latest status, across several pages of changes', async () => {
    service.others.deliveries.push(retried, ...Array.from({ length: 24 }, () => delivery()))
    await waitForFacts(service, 'fact_deliveries', tenant.workspaceId, 25)
    const run = await reported({
      ...{ dataset: 'deliveries', measures: ['deliveries', 'under_way', 'success'], dimensions: ['status'] },
    })
    expect((await run()).totals).toEqual({ deliveries: 25, under_way: 1, success: 1 })

    service.others.deliveries.push({ ...retried, status: 'failed', attempts: 2, errorKind: 'status' })
    const answer = await waitFor(async () => {
      const found = await run()
      return found.totals?.under_way === 0 && found
    })
    expect(answer.totals).toEqual({ deliveries: 25, under_way: 0, success: 24 / 25 })
    const [fact] = await service.sql`select * from fact_deliveries where id = ${retried.id}`
    expect(fact).toMatchObject({ family: 'incident', host: 'example.com', latency_ms: null, version: '26' })
  })

  it('count successes and failures, with the time of the last request for changes as dataAsOf', async () => {
    const startedAt = Date.now()
    service.others.executions.push(
      execution(),
      execution(),
      execution({ status: 'failed', errorCode: 'boom' }),
    )
    await waitForFacts(service, 'fact_executions', tenant.workspaceId, 3)
    const run = await reported({ dataset: 'executions', measures: ['executions', 'failures', 'success'] })
    expect((await run()).totals).toEqual({ executions: 3, failures: 1, success: 2 / 3 })
    await waitFor(async () => Date.parse((await run()).dataAsOf) > startedAt)
  })

  it('are the same after a rebuild, and include rows that are no longer reported', async () => {
    const incremental = [await rows('fact_deliveries'), await rows('fact_executions')]
    const run = await reported({ dataset: 'deliveries', measures: ['deliveries'], dimensions: ['host'] })
    const gone = service.others.deliveries.findIndex(({ id }) => id !== retried.id)
    // Its position remains empty, as if the row had been deleted.
    service.others.deliveries[gone] = { ...retried }
    await service.sql`update fact_deliveries set host = 'spoilt' where id = ${retried.id}`
    await service.rebuild()
    await isRebuilt(service)
    expect([await rows('fact_deliveries'), await rows('fact_executions')]).toEqual(incremental)
    await sumUpAll(service)
    expect((await run()).rows).toEqual([{ host: 'example.com', deliveries: 25 }])
  })

  it('require the permission for their dataset', async () => {
    const permissions = ['analytics:read', 'analytics:write', 'itsm:read'] as const
    const agent = service.as(testPrincipal({ ...tenant, permissions: [...permissions] }))
    const query = { dataset: 'deliveries', measures: ['deliveries'] }
    const { id } = (await agent.post('/analytics/reports', { name: 'Deliveries', query })).data(Report)
    expect((await agent.post(`/analytics/reports/${id}/run`, {})).error().code).toBe('insufficient_scope')
  })
})
