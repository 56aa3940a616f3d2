import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Receiver, seededRandom, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { cliRunner } from './cli.js'
import { type CreateLoad, killAndRecover, startCreating } from './crash-load.js'
import { eventsInStream } from './event-trail.js'
import { faultsOf } from './faults.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver
let sql: postgres.Sql

beforeAll(async () => {
  cluster = await startTestCluster()
  api = apiClient(cluster.info)
  sql = postgres(cluster.info.postgresUrl, { max: 1, onnotice: () => {} })
  receiver = await startReceiver({ tls: { key: cluster.certificate.key, cert: cluster.certificate.cert } })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await cluster?.stop()
})

const seed = Number(process.env.CRASH_SEED ?? 20_251)
const faults = Number(process.env.CRASH_KILLS ?? 16)
const changes = 2
const patience = { timeoutMs: 300_000, intervalMs: 500 }

test(
  `${faults} kills, losses and outages (seed ${seed}) lose no acknowledged incident, event or delivery`,
  async () => {
    await api('POST', '/webhooks', {
      body: {
        name: 'crash',
        url: `${receiver.url}/crash`,
        events: ['incident.created', 'incident.updated'],
        retries: 10,
        retry_strategy: 'exponential',
      },
    })
    const load = startCreating(api, { changes })
    try {
      await suffer(load)
    } finally {
      // Also after a failure: the workers would try for ever, and keep the test run from ending.
      await load.stop()
    }
    expect(load.acknowledged.size).toBeGreaterThan(faults * 5)
    expect(new Set(load.acknowledged.values()).size).toBe(load.acknowledged.size)
    await everyIncidentIsStoredOnce(load)
    const events = await everyVersionIsInTheLog(load)
    await everyEventIsInTheStream(events)
    await everyEventIsInTheAudit(events)
    await everyEventIsDelivered(events)
    await rebuildChangesNothing()
  },
  600_000 + faults * 30_000,
)

async function suffer(load: CreateLoad): Promise<void> {
  const random = seededRandom(seed)
  const victims = Object.entries(faultsOf(cluster, load, random))
  await waitFor(() => load.acknowledged.size > 0)
  for (let fault = 0; fault < faults; fault++) {
    // The first round takes each in turn, so that every kind happens at least once.
    const chosen = victims[fault < victims.length ? fault : Math.floor(random() * victims.length)]
    if (!chosen) continue
    const [name, victim] = chosen
    await killAndRecover(cluster, { name, victim }, load)
  }
}

async function everyIncidentIsStoredOnce({ acknowledged }: CreateLoad): Promise<void> {
  const rows = await sql<{ id: string; title: string }[]>`
    select id, state->>'title' as title from itsm.incidents where state->>'title' like 'crash-%'`
  const idsByTitle = new Map<string, string[]>()
  for (const { id, title } of rows) idsByTitle.set(title, [...(idsByTitle.get(title) ?? []), id])
  for (const [key, id] of acknowledged) expect(idsByTitle.get(key)).toEqual([id])
}

interface LoggedEvent {
  id: string
  incidentId: string
  version: number
}

/** In their order in the log: each aggregate's versions without a gap, and every acknowledged change among them. */
async function everyVersionIsInTheLog({ acknowledged, changed }: CreateLoad): Promise<LoggedEvent[]> {
  const events = await sql<LoggedEvent[]>`
    select id, stream_id as "incidentId", version from itsm.events
     where stream_id = any (${[...acknowledged.values()]}) order by position`
  const last = new Map<string, number>()
  for (const { incidentId, version } of events) {
    expect(version).toBe((last.get(incidentId) ?? 0) + 1)
    last.set(incidentId, version)
  }
  for (const id of acknowledged.values()) {
    const known = 1 + (changed.get(id) ?? 0)
    expect(last.get(id)).toBeGreaterThanOrEqual(known)
    // The request that was under way at the end may have taken effect.
    expect(last.get(id)).toBeLessThanOrEqual(known + 1)
  }
  return events
}

/** A stream that was lost or set back is filled again without anybody's help. */
async function everyEventIsInTheStream(events: LoggedEvent[]): Promise<void> {
  await nothingMissing('in the stream', events, async () => {
    return new Set(await eventsInStream(cluster.info.natsUrl).catch(() => []))
  })
}

async function everyEventIsInTheAudit(events: LoggedEvent[]): Promise<void> {
  await nothingMissing('in the audit log', events, async () => {
    const rows = await sql<{ id: string }[]>`
      select id from settings.audit_log where id = any (${events.map(({ id }) => id)})`
    return new Set(rows.map(({ id }) => id))
  })
}

async function everyEventIsDelivered(events: LoggedEvent[]): Promise<void> {
  await nothingMissing('delivered', events, async () => {
    return new Set(receiver.received().map(({ headers }) => String(headers['x-service-delivery'])))
  })
}

async function nothingMissing(
  where: string,
  events: LoggedEvent[],
  found: () => Promise<Set<string>>,
): Promise<void> {
  let missing: LoggedEvent[] = events
  await waitFor(
    async () => {
      const ids = await found()
      missing = events.filter(({ id }) => !ids.has(id))
      return missing.length === 0
    },
    { ...patience, message: `every event to be ${where}` },
  ).catch((cause: unknown) => {
    const some = missing.slice(0, 5).map(({ id, version }) => `${id} (version ${version})`)
    throw new Error(`${missing.length} of ${events.length} events are not ${where}: ${some.join(', ')}`, {
      cause,
    })
  })
}

/** The read model is what the log makes of it. */
async function rebuildChangesNothing(): Promise<void> {
  const rows = async () => {
    const [row] = await sql<{ hash: string }[]>`
      select md5(string_agg(md5(i::text), '' order by i.id)) as hash from itsm.incidents i`
    return row?.hash
  }
  const before = await rows()
  const database = `--database-url=${cluster.info.postgresUrl}`
  const { code, stderr } = await cliRunner({}).run(['rebuild', '--service', 'itsm', database])
  expect([code, stderr]).toEqual([0, expect.any(String)])
  expect(await rows()).toBe(before)
}
