import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DeliveryChange, newId, type PlatformEvent } from '@opsplane/contracts'
import { seededRandom, testPrincipal, waitFor, waitUntilSettled } from '@opsplane/testing'
import { type AnalyticsProcess, startAnalyticsProcess } from '../process.fixture.js'
import { allFacts, incidentEvent, incidentState, isRebuilt, publish, servedBy } from './facts.fixture.js'
import { type LogServer, startLogServer } from './log-server.fixture.js'

const kills = Number(process.env.FACT_KILLS ?? 1)
const seed = Number(process.env.CRASH_SEED ?? 71)
const random = seededRandom(seed)
const workspaceId = testPrincipal().workspaceId ?? ''

let others: LogServer
let analytics: AnalyticsProcess
beforeAll(async () => {
  others = await startLogServer()
  analytics = await startAnalyticsProcess(servedBy(others))
})
afterAll(async () => {
  await analytics?.service.stop()
  await others?.stop()
})

const versionsOf = (state: ReturnType<typeof incidentState>): PlatformEvent[] =>
  [1, 2, 3].map((version) => incidentEvent(workspaceId, { ...state, commentCount: version }, { version }))
const delivery = (): DeliveryChange => ({
  ...{
    id: newId('delivery'),
    workspaceId,
    environment: 'production',
    webhookId: 'wh_1',
    host: 'example.com',
  },
  ...{ eventType: 'incident.created', status: 'succeeded', attempts: 1, isReplay: false },
  ...{ createdAt: '2026-03-01T09:00:00.000Z', lastAttemptAt: '2026-03-01T09:00:00.040Z' },
  ...{ responseStatus: 200, durationMs: 12, errorKind: null },
})
const count = async (table: string) =>
  Number((await analytics.service.sql.unsafe(`select count(*) from ${table}`))[0]?.count)

/**
 * Kills the service once there are more facts than `before`, while more are still to be written, and
 * starts it again.
 */
async function killAfter(table: string, before: number) {
  await waitFor(async () => (await count(table)) > before, { message: `facts after the first ${before}` })
  await analytics.kill()
  await analytics.start()
}

test(`facts are complete, and the same when they are rebuilt, over ${kills} kills each (seed ${seed})`, async () => {
  const history: PlatformEvent[] = []
  for (let round = 0; round < kills; round++) {
    const before = await count('fact_incidents')
    const events = Array.from({ length: 30 }, () => versionsOf(incidentState()))
      .flat()
      .sort(() => random() - 0.5)
    history.push(...events)
    others.deliveries.push(...Array.from({ length: 15 }, delivery))
    const publishing = publish(analytics.service.natsPrefix, events)
    await killAfter('fact_incidents', before + Math.floor(random() * 10))
    await publishing
  }
  await waitFor(async () => (await count('fact_deliveries')) === 15 * kills)
  await waitUntilSettled(analytics.service)
  const incremental = await allFacts(analytics.service)
  expect(incremental.incidents).toHaveLength(30 * kills)
  for (const fact of incremental.incidents ?? [])
    expect(fact).toMatchObject({ version: '3', comment_count: '3' })
  expect(incremental.events).toHaveLength(90 * kills)

  // All services share one log here, so each event is read several times.
  others.events.push(...history)
  for (let round = 0; round < kills; round++) {
    await analytics.service.rebuild()
    await killAfter('fact_incidents', Math.floor(random() * 20))
  }
  await isRebuilt(analytics.service)
  expect(await allFacts(analytics.service)).toEqual(incremental)
})
