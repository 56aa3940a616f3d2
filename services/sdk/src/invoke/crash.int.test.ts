import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Execution } from '@opsplane/contracts'
import { type Receiver, seededRandom, startReceiver, waitFor } from '@opsplane/testing'
import type { SdkFixture } from './invoke.fixture.js'
import { type SdkProcess, startSdkProcess } from './sdk-process.fixture.js'

const kills = Number(process.env.SDK_KILLS ?? 3)
const random = seededRandom(Number(process.env.CRASH_SEED ?? 14))
/** Executions of each kind, started before each kill. */
const atOnce = 4
const slowestMs = 400
/** Longer than a round: held executions are in flight when the service is killed. */
const heldMs = 600_000
const patience = { intervalMs: 50 }
const held = new Set<string>()

let world: SdkFixture
let receiver: Receiver
let service: SdkProcess

beforeAll(async () => {
  receiver = await startReceiver({
    tls: false,
    respond: ({ path }) => {
      const isHeld = path.endsWith('/held') && !held.has(path)
      if (isHeld) held.add(path)
      return { status: 200, delayMs: isHeld ? heldMs : random() * slowestMs }
    },
  })
  service = await startSdkProcess({
    SDK_LEASE_MS: '1000',
    SDK_ALLOW_HTTP: 'loopback',
    SDK_ALLOWED_CIDRS: '127.0.0.1/32',
  })
  world = service.world
  const code = `import { artifact } from '@opsplane/sdk'
    export default artifact(async ({ held }, host) => {
      await host.http({ method: 'POST', url: '${receiver.url}/' + host.context.executionId + (held ? '/held' : '') })
      return 'done'
    })`
  const permissions = { http: ['127.0.0.1'] }
  await world.install({ slug: 'once', code, permissions })
  await world.install({ slug: 'again', code, permissions, retryable: true })
})
afterAll(async () => {
  await world?.stop()
  await receiver?.stop()
})

/**
 * Whether to kill the child processes that run code instead of the service: every other round, on systems where they
 * can be identified.
 */
const isOfChildren = (round: number) => process.platform === 'linux' && round % 2 === 1

/** Child processes of the service; all of them run or compile code. */
const children = () =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === service.pid())

function parentOf(process: string): number | undefined {
  try {
    const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${process}/stat`, 'latin1')) ?? []
    return Number(parent)
  } catch {
    // The process has exited.
    return undefined
  }
}

/** It may have exited since it was listed. */
function killed(child: number): void {
  try {
    process.kill(child, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function strike(round: number): Promise<void> {
  if (isOfChildren(round)) for (const child of children()) killed(Number(child))
  else {
    await service.kill()
    await service.start()
  }
}

/** Number of outside calls by the code of each execution, by id. */
function calls(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { path } of receiver.received()) {
    const id = path.split('/')[1] ?? ''
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

/** Returns the id of the execution if there was a response. */
async function invoke(slug: string, mode: string, isHeld: boolean): Promise<string | undefined> {
  const answer = await world.api
    .post(`/sdk/artifacts/${slug}/invoke`, { mode, input: { mode, held: isHeld } })
    .catch(() => undefined)
  return answer && answer.status < 300 ? answer.data(Execution).id : undefined
}

/** Invokes each artifact in each mode; the first of those not waited for is `held`. */
const invokeAll = () =>
  ['once', 'again'].flatMap((slug) =>
    ['sync', 'async'].flatMap((mode) =>
      Array.from({ length: atOnce }, (_, at) => {
        const isHeld = mode === 'async' && at === 0
        return { isHeld, answer: invoke(slug, mode, isHeld) }
      }),
    ),
  )

/** Executions that have not ended, with their due-work columns. */
const open = () =>
  world.service.sql<{ id: string; held: boolean | null }[]>`
    select id, status, (input->>'held')::boolean as held, lease_owner, held_until, failures, last_error
    from executions where completed_at is null`

const allEnd = () =>
  waitFor(
    async () => {
      expect([...(await open())]).toEqual([])
      return true
    },
    { ...patience, message: 'every execution to end' },
  )

/**
 * Waits until all held executions have called outside. Not all of them do: on an overloaded machine a lease may expire
 * earlier, which ends the execution.
 */
const allHeldCall = () =>
  waitFor(
    async () => {
      const silent = (await open()).filter(({ id, held: isHeld }) => isHeld && !held.has(`/${id}/held`))
      expect(silent).toEqual([])
      return true
    },
    { ...patience, message: 'what is held to call outside' },
  )

test(`after ${kills} kills of the service and of its children every accepted invocation has a status, and only what says that it may was run again`, async () => {
  const { sql } = world.service
  const accepted: string[] = []
  for (let round = 0; round < kills; round++) {
    const before = receiver.received().length
    const asked = invokeAll()
    const answers = Promise.all(asked.map(({ answer }) => answer))
    let isAnswered = false
    void answers.then(() => {
      isAnswered = true
    })
    // At a random point between the first and the last execution, with some ended and some running.
    const arrived = 1 + Math.floor(random() * asked.length)
    await Promise.all(asked.filter(({ isHeld }) => isHeld).map(({ answer }) => answer))
    await allHeldCall()
    await waitFor(() => isAnswered || receiver.received().length >= before + arrived, {
      ...patience,
      message: `${arrived} of ${asked.length} executions to call outside`,
    })
    await strike(round)
    accepted.push(...(await answers).filter((id) => id !== undefined))
    await allEnd()
  }

  const executions = await sql<
    { id: string; slug: string; mode: string; status: string; code: string | null; failed: number }[]
  >`select id, artifact_slug as slug, input->>'mode' as mode, status, error->>'code' as code,
      (select count(*)::int from events where stream_id = e.id and type = 'sdk.execution.failed') as failed
    from executions e`
  const ids = new Set(executions.map(({ id }) => id))
  expect(accepted.filter((id) => !ids.has(id))).toEqual([])
  const counts = calls()
  expect([...counts.keys()].filter((id) => !ids.has(id))).toEqual([])

  const unlike = executions.filter(({ id, slug, mode, status, code, failed }) => {
    const times = counts.get(id) ?? 0
    const mayRepeat = slug === 'again' && mode === 'async'
    const isDone = status === 'completed' && times >= 1 && failed === 0
    const isCut = status === 'failed' && failed === 1
    const isCrashed = isCut && code === 'crashed'
    if (mayRepeat) return !(isDone || isCrashed)
    return !(times <= 1 && (isDone || isCrashed || (isCut && code === 'interrupted')))
  })
  expect(unlike).toEqual([])
  // The kills have interrupted some of each kind.
  expect(new Set(executions.map(({ status }) => status))).toEqual(new Set(['completed', 'failed']))
  expect([...counts.values()].some((times) => times > 1)).toBe(true)
  const codes = new Set(executions.map(({ code }) => code))
  expect(codes.has('interrupted')).toBe(true)
  if (isOfChildren(1) && kills > 1) expect(codes.has('crashed')).toBe(true)
})
