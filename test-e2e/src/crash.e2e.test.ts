import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import {
  type BackendName,
  backendNames,
  durableConsumers,
  natsNames,
  topicConsumers,
} from '@opsplane/contracts'
import {
  isLongTier,
  parseServerUrl,
  type Receiver,
  seededRandom,
  startReceiver,
  waitFor,
} from '@opsplane/testing'
import postgres from 'postgres'
import { createCliRunner } from './cli.js'
import { expectNothingLost } from './crash-checks.js'
import { type CreateLoad, describeServices, killAndRecover, startCreating } from './crash-load.js'
import { deliveryCrashTests } from './delivery-crash.js'
import { clientTimeoutMs } from './event-trail.js'
import { createFaults } from './faults.js'
import { type Neighbour, startNeighbour } from './neighbour.js'
import { outageTests } from './outage.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver
let sql: postgres.Sql
/** Another installation on the same servers during all tests. */
let neighbour: Neighbour

/** The other services are not killed but consume every event: only the long tier includes them. */
const started: readonly BackendName[] = isLongTier()
  ? backendNames
  : ['settings', 'itsm', 'dispatcher', 'database-studio', 'sdk']

beforeAll(async () => {
  cluster = await startTestCluster({
    services: started,
    extra: { NATS_ACK_WAIT_MS: '1000', WEBHOOK_DRAIN_PER_SECOND: '1000' },
  })
  api = apiClient(cluster.info)
  sql = postgres(cluster.info.postgresUrl, { max: 1, onnotice: () => {} })
  neighbour = await startNeighbour(cluster)
  receiver = await startReceiver({ tls: { key: cluster.certificate.key, cert: cluster.certificate.cert } })
})
afterAll(async () => {
  await neighbour?.stop()
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await cluster?.stop()
})

const seed = Number(process.env.CRASH_SEED ?? 20_251)
const faults = Number(process.env.CRASH_KILLS ?? 10)
const changes = 2

const durablesOf = (registry: Readonly<Partial<Record<string, readonly string[]>>>) =>
  started.flatMap((name) => registry[name] ?? [])

test('every durable consumer redelivers unacknowledged messages after the configured ack wait', async () => {
  const { eventsStream, topicsStream } = natsNames()
  const registered = [
    [eventsStream, durablesOf(durableConsumers)],
    [topicsStream, durablesOf(topicConsumers)],
  ] as const
  const connection = await connect(parseServerUrl(cluster.info.natsUrl))
  try {
    const { consumers } = await jetstreamManager(connection, { timeout: clientTimeoutMs })
    for (const [stream, durables] of registered)
      for (const durable of durables) {
        const { config } = await waitFor(() => consumers.info(stream, durable))
        expect([durable, config.ack_wait]).toEqual([durable, 1_000_000_000])
      }
  } finally {
    await connection.close()
  }
})

test(`${faults} kills, losses and outages (seed ${seed}) lose no acknowledged incident, event or delivery`, async () => {
  const webhook = await api<{ data: { id: string } }>('POST', '/webhooks', {
    body: {
      name: 'crash',
      url: `${receiver.url}/crash`,
      events: ['incident.created', 'incident.updated'],
      retries: 10,
      retry_strategy: 'exponential',
    },
  })
  const load = startCreating(api, { changes, pauseMs: 50 })
  try {
    await suffer(load)
  } finally {
    // Also after a failure: the workers would retry forever, and keep the test run from ending.
    await load.stop()
  }
  // At least one incident was created after each fault.
  expect(load.acknowledged.size).toBeGreaterThan(faults)
  expect(new Set(load.acknowledged.values()).size).toBe(load.acknowledged.size)
  await expectNothingLost({ sql, natsUrl: cluster.info.natsUrl, receiver }, load).catch((cause: unknown) => {
    throw new Error(`${String(cause)}\n${describeServices(cluster)}`, { cause })
  })
  await neighbour.nothingIsShared()
  expect((await api('DELETE', `/webhooks/${webhook.body.data.id}`)).status).toBe(204)
  await rebuildChangesNothing()
})

async function suffer(load: CreateLoad): Promise<void> {
  const random = seededRandom(seed)
  const victims = Object.entries(createFaults(cluster, load, random))
  await waitFor(() => load.acknowledged.size > 0)
  for (let fault = 0; fault < faults; fault++) {
    // The first round uses each fault once, so that every kind occurs.
    const chosen = victims[fault < victims.length ? fault : Math.floor(random() * victims.length)]
    if (!chosen) continue
    const [name, victim] = chosen
    await killAndRecover(cluster, { name, victim }, load)
  }
}

/** Rebuilding the read model from the log gives the same rows. */
async function rebuildChangesNothing(): Promise<void> {
  const rows = async () => {
    const [row] = await sql<{ hash: string }[]>`
      select md5(string_agg(md5(i::text), '' order by i.id)) as hash from itsm.incidents i`
    return row?.hash
  }
  const before = await rows()
  const database = `--database-url=${cluster.info.postgresUrl}`
  const { code, stderr } = await createCliRunner({}).run(['rebuild', '--service', 'itsm', database])
  expect([code, stderr]).toEqual([0, expect.any(String)])
  expect(await rows()).toBe(before)
}

describe('deliveries', () => deliveryCrashTests(() => cluster))

describe('outages', () => outageTests(() => cluster, started))
