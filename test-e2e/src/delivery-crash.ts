import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  isLongTier,
  type ReceivedRequest,
  type Receiver,
  seededRandom,
  startReceiver,
  waitFor,
} from '@opsplane/testing'
import postgres from 'postgres'
import { killAndRecover, startCreating, type Victim } from './crash-load.js'
import { type Api, apiClient, type TestCluster } from './platform.js'

const seed = Number(process.env.CRASH_SEED ?? 20_261)
const kills = Number(process.env.DELIVERY_KILLS ?? 3)

let cluster: TestCluster
let api: Api
let receiver: Receiver
let sql: postgres.Sql
/** Whether the failing endpoints have been repaired. */
let mended = false
/** Titles created by the first worker of the load. */
const deadTitles = 'delivered-0-'
const failedOnce = new Set<string>()
const webhooks: string[] = []

const eventOf = ({ headers }: ReceivedRequest) => String(headers['webhook-id'])

async function begin(): Promise<void> {
  api = apiClient(cluster.info)
  sql = postgres(cluster.info.postgresUrl, { max: 1 })
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: (request) => {
      if (request.path === '/dead' || request.path === '/strict') return { status: mended ? 200 : 500 }
      if (request.path !== '/flaky') return { status: 200 }
      const seen = failedOnce.has(eventOf(request))
      failedOnce.add(eventOf(request))
      return { status: seen ? 200 : 500 }
    },
  })
}

async function webhook(name: string, settings: Record<string, unknown> = {}): Promise<string> {
  const answer = await api<{ data: { id: string } }>('POST', '/webhooks', {
    body: { name, url: `${receiver.url}/${name}`, events: ['incident.created'], ...settings },
  })
  webhooks.push(answer.body.data.id)
  return answer.body.data.id
}

/** Tests of a cluster whose dispatcher, NATS and Postgres are killed. */
export function deliveryCrashTests(setting: () => TestCluster): void {
  beforeAll(async () => {
    cluster = setting()
    await begin()
  })
  afterAll(async () => {
    for (const id of webhooks) await api('DELETE', `/webhooks/${id}`)
    await sql?.end({ timeout: 5 })
    await receiver?.stop()
  })

  const title = `${kills} SIGKILLs of dispatcher, NATS and Postgres (seed ${seed}) leave no event undelivered`
  test(title, killUnderLoad)
}

async function killUnderLoad(): Promise<void> {
  const random = seededRandom(seed)
  const steady = await webhook('steady', { retries: 20 })
  const flaky = await webhook('flaky', { retries: 20, retry_schedule: [1] })
  const filter = { 'data.title': { starts_with: deadTitles } }
  const dead = await webhook('dead', { retries: 0, filter })
  // Sent one after the other, so that each pause comes after exactly five failures.
  const strict = await webhook('strict', { retries: 0, filter, ordering_key: 'workspace_id' })
  const load = startCreating(api, { pauseMs: 100, prefix: 'delivered' })
  const { dispatcher } = cluster.services
  const victims: Record<string, Victim> = { dispatcher, nats: cluster.nats, postgres: cluster.postgres }
  const names = Object.keys(victims)
  const killed: Record<string, number> = {}
  try {
    for (let kill = 0; kill < kills; kill++) {
      const name = names[kill < names.length ? kill : Math.floor(random() * names.length)] ?? ''
      const victim = victims[name]
      if (victim) await killAndRecover(cluster, { name, victim, more: isLongTier() ? 25 : 12 }, load)
      killed[name] = (killed[name] ?? 0) + 1
      for (const id of [dead, strict]) await resumeIfPaused(id)
    }
    for (const id of [dead, strict])
      await waitFor(async () => (await statusOf(id)) === 'paused', { intervalMs: 250 })
  } finally {
    await load.stop()
  }

  mended = true
  const events = await eventsOf(load.acknowledged)
  expect(events.all.size).toBe(load.acknowledged.size)
  const failed = await everyEventAccepted(events, { steady, flaky, dead, strict })
  const pauses = await pausesOf(dead)
  expect(pauses.every((failures) => failures >= 5)).toBe(true)
  expect(pauses.length).toBe(await resumesOf(dead))
  const strictPauses = await pausesOf(strict)
  expect(strictPauses).toEqual(strictPauses.map(() => 5))
  expect(strictPauses.length).toBe(await resumesOf(strict))
  expect(failed.strict).toBe(5 * strictPauses.length)

  const repeated = repetitions('/steady')
  // Maximum number of attempts that a dispatcher may have sent but not recorded when it is killed.
  const bound = (killed.dispatcher ?? 0) * (endpointConcurrency + maxUnrecorded)
  expect(repeated).toBeLessThanOrEqual(bound)
  process.stdout.write(
    `${kills} kills ${JSON.stringify(killed)}, ${events.all.size} events: 0 undelivered to steady and flaky; ` +
      `steady got ${repeated} twice or more (bound ${bound}), flaky ${repetitions('/flaky') - failedOnce.size}; ` +
      `dead was paused ${pauses.length} times, each time once; strict ${strictPauses.length} times, after exactly 5 failures\n`,
  )
}

/** WEBHOOK_ENDPOINT_CONCURRENCY, and the number of results that may wait to be recorded (delivery/record/record.ts). */
const endpointConcurrency = 32
const maxUnrecorded = 1_000

/** Number of repeated requests for the same event. */
function repetitions(path: string): number {
  const events = receiver.received().flatMap((request) => (request.path === path ? [eventOf(request)] : []))
  return events.length - new Set(events).size
}

/** `undefined` while the status cannot be read. */
async function statusOf(id: string): Promise<string | undefined> {
  const answer = await api<{ data?: { status: string } }>('GET', `/webhooks/${id}`).catch(() => undefined)
  return answer?.body.data?.status
}

async function resumeIfPaused(id: string): Promise<void> {
  if ((await statusOf(id)) !== 'paused') return
  await api('PATCH', `/webhooks/${id}`, { body: { status: 'active' } }).catch(() => undefined)
}

interface Expected {
  all: Set<string>
  /** Events that the dead webhook is subscribed to. */
  dead: Set<string>
}

async function eventsOf(acknowledged: ReadonlyMap<string, string>): Promise<Expected> {
  const rows = await sql<{ id: string; stream_id: string }[]>`
    select id, stream_id from itsm.events
    where type = 'incident.created' and stream_id = any (${[...acknowledged.values()]})`
  const eventId = new Map(rows.map((row) => [row.stream_id, row.id]))
  const ids = (incidents: string[]) => new Set(incidents.flatMap((id) => eventId.get(id) ?? []))
  const dead = [...acknowledged].flatMap(([title, id]) => (title.startsWith(deadTitles) ? [id] : []))
  return { all: ids([...acknowledged.values()]), dead: ids(dead) }
}

/**
 * Waits until all events are delivered; for the webhooks that were dead, until each delivery has succeeded or
 * failed. Returns the number of failures.
 */
async function everyEventAccepted(
  { all, dead }: Expected,
  webhooks: Record<'steady' | 'flaky' | 'dead' | 'strict', string>,
): Promise<{ dead: number; strict: number }> {
  return waitFor(
    async () => {
      // A failure from before the repair may be recorded only now, and pause a webhook.
      for (const id of [webhooks.dead, webhooks.strict]) await resumeIfPaused(id)
      const counts = {
        steady: await countByStatus(webhooks.steady, all),
        flaky: await countByStatus(webhooks.flaky, all),
        dead: await countByStatus(webhooks.dead, dead),
        strict: await countByStatus(webhooks.strict, dead),
      }
      const countEnded = (count: Record<string, number>) => (count.succeeded ?? 0) + (count.failed ?? 0)
      const delivered = counts.steady.succeeded === all.size && counts.flaky.succeeded === all.size
      if (!delivered || countEnded(counts.dead) !== dead.size || countEnded(counts.strict) !== dead.size)
        throw new Error(`${all.size} and ${dead.size} events: ${JSON.stringify(counts)}`)
      for (const path of ['/steady', '/flaky']) expect(missingAt(path, all)).toEqual([])
      for (const path of ['/dead', '/strict']) expect(missingAt(path, dead)).toEqual([])
      return { dead: counts.dead.failed ?? 0, strict: counts.strict.failed ?? 0 }
    },
    { intervalMs: 500, message: 'every event to be delivered' },
  )
}

async function countByStatus(webhookId: string, events: Set<string>): Promise<Record<string, number>> {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int from dispatcher.deliveries
    where webhook_id = ${webhookId} and event_id = any (${[...events]}) group by status`
  return Object.fromEntries(rows.map((row) => [row.status, row.count]))
}

function missingAt(path: string, events: Set<string>): string[] {
  const arrivedEvents = new Set(
    receiver.received().flatMap((request) => (request.path === path ? [eventOf(request)] : [])),
  )
  return [...events].filter((event) => !arrivedEvents.has(event))
}

/** Number of failures that each automatic pause reports. */
async function pausesOf(id: string): Promise<number[]> {
  const rows = await sql<{ failures: number }[]>`
    select (data->>'consecutiveFailures')::int as failures from dispatcher.events
    where stream_id = ${id} and type = 'webhook.paused'`
  return rows.map(({ failures }) => failures)
}

async function resumesOf(id: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int from dispatcher.events where stream_id = ${id} and type = 'webhook.resumed'`
  return row?.count ?? 0
}
