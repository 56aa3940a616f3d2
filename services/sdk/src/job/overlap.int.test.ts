import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Execution, ScheduledJob } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type SdkFixture, startSdk } from '../invoke/invoke.fixture.js'

/** Behavior of a job whose previous execution has not ended when it is due again. */

const jobs = '/sdk/scheduled-jobs'
const log = '/origin/api/service-sdk/executions'

let world: SdkFixture
let receiver: Receiver
/** Unanswered calls and their maximum number, by the path that a job's artifact calls. */
const under = new Map<string, (() => void)[]>()
const most = new Map<string, number>()

beforeAll(async () => {
  receiver = await startReceiver({
    tls: false,
    respond: async ({ path }) => {
      const waiting = under.get(path) ?? []
      under.set(path, waiting)
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        most.set(path, Math.max(most.get(path) ?? 0, waiting.length))
      })
      return { status: 200 }
    },
  })
  world = await startSdk({ SDK_ALLOW_HTTP: 'loopback', SDK_ALLOWED_CIDRS: '127.0.0.1/32' })
  await world.install({
    ...{
      slug: 'calls',
      kind: 'scheduled',
      limits: { wallMs: 300_000 },
      permissions: { http: ['127.0.0.1'] },
    },
    code: `export default async function ({ path }, host) { await host.http({ url: '${receiver.url}' + path }) }`,
  })
})
afterAll(async () => {
  for (const path of under.keys()) answer(path)
  await world?.stop()
  await receiver?.stop()
})

/** Answers all waiting calls. */
const answer = (path: string) => {
  for (const resolve of (under.get(path) ?? []).splice(0)) resolve()
}
const begin = async (overlap: string, more: object = {}) => {
  const schedule = { everySeconds: 1, overlap, ...more }
  const body = { name: overlap, artifact: 'calls', input: { path: `/${overlap}` }, schedule }
  return (await world.api.post(jobs, body)).data(ScheduledJob)
}
/** Decisions about the job's due times, in order. */
const decided = async ({ id }: ScheduledJob) => {
  const rows = await world.service.sql<{ begun: string }[]>`
    select begun from schedule_fires join schedules on id = schedule_id where owner_id = ${id} order by fire_at`
  return rows.map(({ begun }) => begun)
}
/** Executions of the job, oldest first. */
const executionsOf = async ({ id }: ScheduledJob) =>
  (await world.api.get(`${log}?triggerType=scheduled_job&triggerId=${id}&limit=200`))
    .page(Execution)
    .items.reverse()
const statuses = async (job: ScheduledJob) => (await executionsOf(job)).map(({ status }) => status)
const pause = ({ id }: ScheduledJob) => world.api.post(`${jobs}/${id}/pause`)

it('skips due times while the previous execution is running with overlap skip', async () => {
  const job = await begin('skip')
  await waitFor(async () => (await decided(job)).length >= 3)
  expect((await decided(job)).slice(0, 3)).toEqual(['start', 'skip', 'skip'])
  expect(await statuses(job)).toEqual(['running'])
  await waitFor(() => under.get('/skip')?.length === 1)
  answer('/skip')
  await waitFor(async () => (await statuses(job)).length === 2)
  expect((await statuses(job))[0]).toBe('completed')
  await pause(job)
})

it('runs executions one after another with overlap queue, whether the previous one completed or was cancelled', async () => {
  const job = await begin('queue', { maxCatchUp: 3 })
  await waitFor(async () => (await decided(job)).filter((each) => each === 'queue').length === 3)
  await pause(job)
  const [first, ...queued] = await executionsOf(job)
  expect(queued.map(({ status }) => status)).toEqual(['running', 'running', 'running'])
  await waitFor(() => under.get('/queue')?.length === 1)
  // Nothing waits for its response any more.
  const [unheard] = under.get('/queue')?.splice(0, 1) ?? []
  await world.api.post(`${log}/${first?.id}/cancel`)
  unheard?.()
  for (const _ of queued) {
    await waitFor(() => under.get('/queue')?.length === 1)
    answer('/queue')
  }
  await waitFor(async () => !(await statuses(job)).includes('running'))
  const ended = await executionsOf(job)
  expect(ended.map(({ status }) => status)).toEqual(['cancelled', 'completed', 'completed', 'completed'])
  expect(ended.map(({ completed_at }) => completed_at)).toEqual(
    ended.map(({ completed_at }) => completed_at).toSorted(),
  )
  expect(most.get('/queue')).toBe(1)
})

it('cancels the running execution with overlap cancel_previous', async () => {
  const job = await begin('cancel_previous')
  await waitFor(async () => (await statuses(job)).length >= 3)
  await pause(job)
  const ended = await statuses(job)
  expect(new Set(ended.slice(0, -1))).toEqual(new Set(['cancelled']))
  expect(ended.at(-1)).toBe('running')
})
