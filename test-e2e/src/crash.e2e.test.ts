import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { natsNames } from '@opsplane/contracts'
import { type Receiver, seededRandom, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { killAndRecover, startCreating, type Victim } from './crash-load.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver

beforeAll(async () => {
  cluster = await startTestCluster()
  api = apiClient(cluster.info)
  receiver = await startReceiver({ tls: { key: cluster.certificate.key, cert: cluster.certificate.cert } })
})
afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
})

const seed = Number(process.env.CRASH_SEED ?? 20_251)
const kills = Number(process.env.CRASH_KILLS ?? 16)

test(`${kills} SIGKILLs (seed ${seed}) lose no acknowledged incident, event or delivery`, async () => {
  const random = seededRandom(seed)
  await api('POST', '/webhooks', {
    body: {
      name: 'crash',
      url: `${receiver.url}/crash`,
      events: ['incident.created'],
      retries: 10,
      retry_strategy: 'exponential',
    },
  })
  const load = startCreating(api)
  const { itsm, settings, dispatcher, gateway } = cluster.services
  const victims: Record<string, Victim> = {
    ...{ itsm, dispatcher, settings, gateway },
    nats: cluster.nats,
    postgres: cluster.postgres,
  }
  const names = Object.keys(victims)
  try {
    for (let kill = 0; kill < kills; kill++) {
      // The first round takes each in turn, so that every kind is killed at least once.
      const name = names[kill < names.length ? kill : Math.floor(random() * names.length)] ?? ''
      const victim = victims[name]
      if (victim) await killAndRecover(cluster, { name, victim }, load)
    }
  } finally {
    // Also after a failure: the workers would try for ever, and keep the test run from ending.
    await load.stop()
  }
  const { acknowledged } = load
  expect(acknowledged.size).toBeGreaterThan(kills * 5)

  const incidentIds = new Set(acknowledged.values())
  expect(incidentIds.size).toBe(acknowledged.size)
  await everyIncidentIsStoredOnce(acknowledged)
  const eventOf = await everyIncidentHasItsEvent(incidentIds)
  await waitFor(
    () => {
      const delivered = new Set(receiver.received().map((request) => request.headers['x-service-delivery']))
      return [...incidentIds].every((id) => delivered.has(eventOf.get(id)))
    },
    { timeoutMs: 120_000, intervalMs: 250, message: 'an acknowledged incident was never delivered' },
  )
}, 900_000)

async function everyIncidentIsStoredOnce(acknowledged: ReadonlyMap<string, string>) {
  const sql = postgres(cluster.info.postgresUrl, { max: 1 })
  try {
    await storedOnce(sql, acknowledged)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function storedOnce(sql: postgres.Sql, acknowledged: ReadonlyMap<string, string>) {
  const rows = await sql<{ id: string; title: string }[]>`
    select id, state->>'title' as title from itsm.incidents where state->>'title' like 'crash-%'`
  const idsByTitle = groupByTitle(rows)
  for (const [key, id] of acknowledged) expect(idsByTitle.get(key)?.map((row) => row.id)).toEqual([id])
  await waitFor(
    async () => {
      const [row] = await sql`select count(*)::int as waiting from itsm.outbox`
      return row?.waiting === 0
    },
    { message: 'events stay unpublished' },
  )
}

function groupByTitle(rows: { id: string; title: string }[]) {
  const groups = new Map<string, { id: string; title: string }[]>()
  for (const row of rows) groups.set(row.title, [...(groups.get(row.title) ?? []), row])
  return groups
}

/** Reads all of JetStream: event id by incident id. */
async function everyIncidentHasItsEvent(incidentIds: Set<string>): Promise<Map<string, string>> {
  const connection = await connect({ servers: cluster.info.natsUrl })
  const eventOf = new Map<string, string>()
  try {
    const manager = await jetstreamManager(connection)
    const stream = natsNames().eventsStream
    const { state } = await manager.streams.info(stream)
    for (let sequence = state.first_seq; sequence <= state.last_seq; sequence++) {
      const message = await manager.streams.getMessage(stream, { seq: sequence })
      const event = message?.json<{ id: string; type: string; resource: { id: string } }>()
      if (event?.type === 'incident.created') eventOf.set(event.resource.id, event.id)
    }
  } finally {
    await connection.close()
  }
  const missing = [...incidentIds].filter((id) => !eventOf.has(id))
  expect(missing).toEqual([])
  return eventOf
}
