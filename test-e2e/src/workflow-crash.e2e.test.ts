import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Receiver, seededRandom, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { type Api, apiClient, startTestCluster } from './platform.js'

const kills = Number(process.env.WORKFLOW_KILLS ?? 5)
const total = Number(process.env.WORKFLOW_RUNS ?? 15)
const seed = Number(process.env.CRASH_SEED ?? 13)
const items = [1, 2]
const patience = { intervalMs: 250 }

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver
let sql: postgres.Sql

beforeAll(async () => {
  // Short leases, so that the work of a killed process is soon claimed again, and a high limit for how often one step
  // may be interrupted.
  const extra = { NATS_ACK_WAIT_MS: '1000', WORKFLOW_LEASE_MS: '1000', WORKFLOW_MAX_DEATHS: '1000' }
  cluster = await startTestCluster({ services: ['workflows', 'integrations'], extra })
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => ({ status: 200, body: '{}' }),
  })
  sql = postgres(cluster.info.postgresUrl, {
    ...{ max: 1, onnotice: () => {} },
    connection: { search_path: 'workflows' },
  })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await cluster?.stop()
})

async function made(path: string, body: object): Promise<string> {
  const answer = await api<{ data: { id: string } }>('POST', path, { body })
  expect(answer.status).toBeLessThan(300)
  return answer.body.data.id
}
async function published(name: string, steps: object[]): Promise<string> {
  const id = await made('/workflows', { name, definition: { steps } })
  await made(`/workflows/${id}/publish`, {})
  return id
}

/**
 * Creates a workflow with a branch, a `for_each` of requests, a connector call, and a run of another workflow that
 * waits.
 */
async function workflow(): Promise<string> {
  const config = { baseUrl: `${receiver.url}/connector` }
  const connector = await made('/connectors', { name: 'Receiver', kind: 'http', config })
  const child = await published('Child', [
    { id: 'nap', type: 'wait', seconds: 1.2 },
    { id: 'double', type: 'transform', value: '{{ input * 2 }}' },
  ])
  const retry = { attempts: 20, delaySeconds: 0.2, maxDelaySeconds: 3 }
  const body = { run: '{{ run.id }}', item: '{{ item }}' }
  const send = { id: 'send', type: 'http', method: 'POST', url: `${receiver.url}/sent`, body, retry }
  return published('Parent', [
    { id: 'is', type: 'branch', if: '{{ input.fork }}', then: [{ id: 'yes', type: 'transform', value: 1 }] },
    { id: 'each', type: 'for_each', items: '{{ input.items }}', concurrency: 2, steps: [send] },
    { id: 'call', type: 'connector', connector, action: 'get', input: {}, retry },
    { id: 'sub', type: 'workflow', workflow: child, input: 21 },
    {
      ...{ id: 'last', type: 'transform' },
      value: {
        sum: '{{ steps.sub.output }}',
        sent: '{{ $count(steps.each.output) }}',
        called: '{{ steps.call.output.status }}',
      },
    },
  ])
}

/** Requests a run until the request is answered: always with the same key, so that only one run is started. */
async function trigger(id: string, key: string): Promise<void> {
  const request = { body: { input: { fork: true, items } }, headers: { 'idempotency-key': key } }
  await waitFor(
    async () => {
      const { status, body } = await api('POST', `/workflows/${id}/trigger`, request)
      if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
      return true
    },
    { intervalMs: 100, message: `the start of ${key}` },
  )
}

/** The ten oldest runs that have not ended: the lease owner, its expiry, and the last journal entry. */
const open = () => sql`
  select r.id, r.parent_run_id, r.status, r.due_at, r.lease_owner, r.held_until, r.failures, r.last_error, r.signals,
    r.seq, e.at as last_at, e.entry->>'kind' as last_entry, e.entry->>'place' as place
  from runs r left join run_entries e on e.run_id = r.id and e.seq = r.seq
  where r.ended_at is null order by r.id limit 10`

const tally = new Map<string, number>()

/** Kills a process or a server, and starts it again. */
async function disturb(random: () => number, kill: number): Promise<void> {
  const { workflows, integrations } = cluster.services
  const { nats, postgres: database } = cluster
  const victims = { workflows, integrations, nats, database }
  const names = ['workflows', 'workflows', 'database', 'integrations', 'nats'] as const
  // The first kills cover each of them, so that a short run also has killed them all.
  const name =
    names[kill < names.length ? names.length - 1 - kill : Math.floor(random() * names.length)] ?? 'workflows'
  tally.set(name, (tally.get(name) ?? 0) + 1)
  await victims[name].kill()
  await victims[name].start()
}

test(`${kills} kills of services, NATS and Postgres lose none of ${total} runs, and repeat at most what was in flight`, async () => {
  const random = seededRandom(seed)
  const id = await workflow()
  for (let kill = 0, asked = 0; kill < kills; kill++) {
    const wave = Math.ceil((total * (kill + 1)) / kills) - asked
    let accepted = 0
    const start = async (_: unknown, n: number) => {
      await trigger(id, `run-${asked + n}`)
      accepted++
    }
    const triggered = Promise.all(Array.from({ length: wave }, start))
    const some = Math.floor(random() * wave)
    await waitFor(() => accepted >= some, { intervalMs: 5, message: `${some} runs to be accepted` })
    await disturb(random, kill)
    await triggered
    asked += wave
  }
  await waitFor(
    async () => {
      expect([...(await open())]).toEqual([])
      return true
    },
    { ...patience, message: 'every run to end' },
  )
  await holds()
  expect([...tally.keys()].sort()).toEqual(['database', 'integrations', 'nats', 'workflows'])
})

async function holds(): Promise<void> {
  const failed = await sql`select id, status, error from runs where status <> 'completed'`
  expect([...failed]).toEqual([])
  const [count] = await sql`
    select count(*)::int as all, count(*) filter (where parent_run_id is null)::int as own from runs`
  expect(count).toEqual({ all: total * 2, own: total })

  // Each step's outcome is recorded once, and all outputs are equal.
  const twice = await sql`
    select run_id, entry->>'place' as place from run_entries where entry->>'kind' = 'completed'
    group by 1, 2 having count(*) > 1`
  expect([...twice]).toEqual([])
  const outputs = await sql`
    select distinct entry->>'output' as output from run_entries e join runs r on r.id = e.run_id and r.seq = e.seq
    where r.parent_run_id is null`
  const output = { sum: 42, sent: items.length, called: 200 }
  expect(outputs.map((row) => JSON.parse(String(row.output)))).toEqual([output])

  // Repeated requests had the same key, and each effect has its own key.
  const keyOf = new Map<string, Set<string>>()
  for (const { path, headers, rawBody } of receiver.received())
    if (path === '/sent') {
      const body = rawBody.toString()
      keyOf.set(body, (keyOf.get(body) ?? new Set()).add(String(headers['idempotency-key'])))
    }
  expect(keyOf.size).toBe(total * items.length)
  expect([...keyOf.values()].filter((keys) => keys.size > 1)).toEqual([])
  expect(new Set([...keyOf.values()].flatMap((keys) => [...keys])).size).toBe(total * items.length)
  const events = await sql`
    select stream_id from events where type = 'workflow.run_completed' group by 1 having count(*) > 1`
  expect([...events]).toEqual([])
}
