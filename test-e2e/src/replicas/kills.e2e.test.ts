import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import { pgbouncer, type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { nothingIsLost } from '../crash-checks.js'
import { type CreateLoad, startCreating, type Victim } from '../crash-load.js'
import { type Api, apiClient } from '../platform.js'
import { type ReplicatedPlatform, startReplicas } from './platform.js'
import { startTopic, type TopicLoad } from './topic-load.js'

/** Each replica of each service and each NATS server so many times; without it those of the busiest once. */
const rounds = Number(process.env.REPLICA_KILLS ?? 0)
const busiest: ServiceName[] = ['gateway', 'settings', 'itsm', 'dispatcher']

let platform: ReplicatedPlatform
let api: Api
let receiver: Receiver
let sql: postgres.Sql

beforeAll(async () => {
  platform = await startReplicas({
    services: rounds > 0 ? serviceNames : busiest,
    natsServers: rounds > 0 ? 3 : 1,
    pooler: rounds > 0 && pgbouncer !== undefined,
  })
  api = apiClient(platform.info)
  sql = postgres(platform.info.postgresUrl, { max: 1, onnotice: () => {} })
  const { key, cert } = platform.certificate
  receiver = await startReceiver({ tls: { key, cert } })
}, 600_000)
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await platform?.stop()
}, 120_000)

test(
  'each replica and each NATS server is killed under load: what fails may be tried again, and nothing is lost',
  async () => {
    const events = ['incident.created', 'incident.updated']
    const webhook = { name: 'kills', url: `${receiver.url}/kills`, events, retries: 10 }
    expect(await api('POST', '/webhooks', { body: webhook })).toMatchObject({ status: 201 })
    const load = startCreating(api, { changes: 2 })
    const topic = startTopic(api, 'kills')
    try {
      await waitFor(() => load.acknowledged.size > 0 && topic.read.length > 0)
      for (let round = 0; round < Math.max(1, rounds); round++)
        for (const [name, victim] of Object.entries(victims())) await killAndGoOn(name, victim, load, topic)
    } finally {
      await load.stop()
      await topic.stop()
    }
    expect([...load.unexpected(), ...topic.unexpected]).toEqual([])
    expect(topic.read).toEqual([...topic.published])
    await nothingIsLost({ sql, natsUrl: platform.info.natsUrl, receiver }, load)
  },
  300_000 + rounds * 1_200_000,
)

function victims(): Record<string, Victim> {
  const processes = Object.values(platform.replicas).flatMap((replicas) =>
    replicas.map((replica, n) => [`${replica.name}-${n}`, replica] as const),
  )
  const servers = platform.nats.map((server, n) => [`nats-${n}`, server] as const)
  return Object.fromEntries([...processes, ...servers])
}

/** The load has to go on before the victim is back, where another one of its kind is there. */
async function killAndGoOn(name: string, victim: Victim, load: CreateLoad, topic: TopicLoad): Promise<void> {
  const isAlone = name.startsWith('nats') && platform.nats.length === 1
  await victim.kill()
  if (isAlone) await victim.start()
  await goesOn(name, load, topic)
  if (!isAlone) await victim.start()
  await goesOn(name, load, topic)
}

async function goesOn(name: string, load: CreateLoad, topic: TopicLoad): Promise<void> {
  const before = { created: load.acknowledged.size, read: topic.read.length }
  await waitFor(() => load.acknowledged.size > before.created + 10 && topic.read.length > before.read + 3, {
    timeoutMs: 120_000,
    message: `work to go on after a kill of ${name}; the last answer was ${load.lastAnswer()}`,
  })
}
