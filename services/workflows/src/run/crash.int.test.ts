import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { TriggeredRun, WorkflowWithDraft } from '@opsplane/contracts'
import { type ApiClient, seededRandom, testPrincipal, waitFor } from '@opsplane/testing'
import type { GivenDefinition } from '../fixture/workflows-fixture.js'
import { type KillableWorkflows, startKillableWorkflows } from '../fixture/workflows-process.js'

const kills = Number(process.env.WORKFLOW_KILLS ?? 16)
const seed = Number(process.env.CRASH_SEED ?? 13)
const runsAtOnce = 20

let world: KillableWorkflows
let api: ApiClient
let receiver: Server
/** Idempotency keys the receiver was sent, with what came with them. */
const received: { key: string; body: string }[] = []

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      received.push({ key: String(request.headers['idempotency-key']), body })
      response.setHeader('content-type', 'application/json').end(body)
    })
  })
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  world = await startKillableWorkflows()
  api = world.service.as(testPrincipal())
})
afterAll(async () => {
  await world?.stop()
  receiver?.close()
})

async function published(name: string, definition: GivenDefinition): Promise<string> {
  const { id } = (await api.post('/workflows', { name, definition })).data(WorkflowWithDraft)
  expect((await api.post(`/workflows/${id}/publish`, {})).status).toBe(200)
  return id
}

/** A branch, a for_each of requests and waits, and a run of another workflow. */
async function workflow(): Promise<string> {
  const { port } = receiver.address() as AddressInfo
  const child = await published('Child', {
    steps: [
      { id: 'nap', type: 'wait', seconds: 1.2 },
      { id: 'double', type: 'transform', value: '{{ input * 2 }}' },
    ],
  })
  const send = {
    ...({ id: 'send', type: 'http', method: 'POST', url: `http://127.0.0.1:${port}/` } as const),
    body: { run: '{{ run.id }}', item: '{{ item }}' },
    retry: { attempts: 10, delaySeconds: 0.1 },
  }
  return published('Parent', {
    steps: [
      {
        id: 'which',
        type: 'branch',
        if: '{{ input.fork }}',
        then: [{ id: 'yes', type: 'transform', value: 1 }],
      },
      { id: 'each', type: 'for_each', items: '{{ input.items }}', concurrency: 2, steps: [send] },
      { id: 'sub', type: 'workflow', workflow: child, input: 21 },
      {
        id: 'last',
        type: 'transform',
        value: { sum: '{{ steps.sub.output }}', sent: '{{ $count(steps.each.output) }}' },
      },
    ],
  })
}

/** The run, where that was answered; whoever got no answer does not know. */
async function trigger(id: string): Promise<string | undefined> {
  const input = { fork: true, items: [1, 2, 3] }
  const reply = await api.post(`/workflows/${id}/trigger`, { input }).catch(() => undefined)
  return reply && reply.status < 300 ? reply.data(TriggeredRun).runId : undefined
}

test(`${kills} kills lose no run, leave none stuck, and repeat at most what was in flight`, async () => {
  const random = seededRandom(seed)
  const { sql } = world.service
  const id = await workflow()
  const answered: string[] = []
  for (let kill = 0; kill < kills; kill++) {
    const triggered = Promise.all(Array.from({ length: Math.ceil(runsAtOnce / kills) }, () => trigger(id)))
    await delay(500 + random() * 700)
    if (random() < 0.3)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'opsplane-workflows' and datname = current_database()`
    else {
      await world.kill()
      await world.startAgain()
    }
    answered.push(...(await triggered).filter((runId) => runId !== undefined))
  }
  await waitFor(
    async () => {
      const open = await sql`
        select r.id, status, r.seq, signals, failures, last_error, due_at, held_until, lease_owner, parent_run_id,
          (select entry::text from run_entries e where e.run_id = r.id and e.seq = r.seq) as last
        from runs r where ended_at is null`
      expect([...open]).toEqual([])
      return true
    },
    { message: 'every run to end' },
  )

  const runs = await sql`select id, status, error, parent_run_id is null as own from runs`
  expect(runs.filter(({ status }) => status !== 'completed')).toEqual([])
  const own = runs.filter((run) => run.own).map((run) => run.id as string)
  expect(answered.filter((runId) => !own.includes(runId))).toEqual([])
  expect(answered.length).toBeGreaterThan(0)
  expect(runs.length).toBe(own.length * 2)

  // Each step's outcome is recorded once, and comes to the same.
  const twice = await sql`
    select run_id, entry->>'place' as place from run_entries where entry->>'kind' = 'completed'
    group by 1, 2 having count(*) > 1`
  expect(twice).toEqual([])
  const outputs = await sql`
    select distinct entry->>'output' as output from run_entries e join runs r on r.id = e.run_id and r.seq = e.seq
    where r.parent_run_id is null`
  expect(outputs.map(({ output }) => JSON.parse(output))).toEqual([{ sum: 42, sent: 3 }])

  // What was sent again came with the same key, and there is a key for each effect.
  const keyOf = new Map<string, Set<string>>()
  for (const { key, body } of received) keyOf.set(body, (keyOf.get(body) ?? new Set()).add(key))
  expect(keyOf.size).toBe(own.length * 3)
  expect([...keyOf.values()].filter((keys) => keys.size > 1)).toEqual([])
  expect(new Set(received.map(({ key }) => key)).size).toBe(own.length * 3)
  const events = await sql`
    select stream_id from events where type = 'workflow.run_completed' group by 1 having count(*) > 1`
  expect(events).toEqual([])
}, 600_000)
