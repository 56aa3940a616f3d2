import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { type DueWorkGroup, leasedWorker, transactionWorker } from '../index.js'
import type { DueWorkOptions } from './due-work.js'
import { finish, type Job, jobs, type ScratchJobs, scratchJobs, waitUntilTrue } from './scratch.fixture.js'

let scratch: ScratchJobs
const opened: DueWorkGroup[] = []
beforeAll(async () => {
  scratch = await scratchJobs('due_work_test')
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((group) => group.close(0)))
  await scratch.admin`truncate jobs`
})
afterAll(() => scratch?.close())

const replica = (options?: Partial<DueWorkOptions>) => {
  const group = scratch.replica(options)
  opened.push(group)
  return group
}

interface Options {
  batch?: number
  ofOne?: number
  leaseMs?: number
  deadlineMs?: number
  /** The attempt; only what it does can fail. */
  attempt?: (rows: readonly Job[], signal?: AbortSignal) => unknown
}
const common = { name: 'jobs', of: jobs, columns: ['workspace_id'], retry: { baseMs: 10, maxMs: 20 } }

const inTransaction = ({ batch = 50, attempt }: Options = {}) =>
  transactionWorker<Job>({
    ...common,
    batch,
    async perform(tx, rows) {
      await finish(tx, rows)
      await attempt?.(rows)
    },
  })

const byLease = ({ batch = 16, ofOne, leaseMs = 30_000, deadlineMs = 600_000, attempt }: Options = {}) =>
  leasedWorker<Job, undefined>({
    ...{ ...common, batch, together: batch, leaseMs, deadlineMs },
    ...(ofOne !== undefined && { ofOne }),
    async perform(rows, signal) {
      await attempt?.(rows, signal)
      return rows.map(() => undefined)
    },
    done: (tx, finished) =>
      finish(
        tx,
        finished.map(({ row }) => row),
      ),
  })

/** Never ends, unless the signal aborts. */
const stuck = (_: readonly Job[], signal?: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
const allDone = () => waitUntilTrue(async () => (await scratch.left()) === 0)
const timesDone = async () => (await scratch.jobs()).map(({ times_done }) => times_done)

describe.each([
  ['within a transaction', inTransaction],
  ['by lease', byLease],
])('work done %s', (_, work) => {
  it('is shared by replicas, and each row is done once', async () => {
    await scratch.add(700)
    const works = [replica(), replica(), replica()].map((group) => group.start(work()))
    await allDone()
    expect(await timesDone()).toEqual(Array.from({ length: 700 }, () => 1))
    // Each replica counts when it learns of its commit.
    await waitUntilTrue(() => works.reduce((sum, started) => sum + started.counts().done, 0) === 700)
  })

  it('is found when it is due or on a hint, without polling in between', async () => {
    const started = replica({ restMs: 600_000 }).start(work())
    await scratch.add(1, { prefix: 'now' })
    started.wake()
    await allDone()
    await scratch.add(1, { prefix: 'later', inMs: 300 })
    started.wake()
    await allDone()
    expect(await scratch.admin`select 1 from jobs where finished_at < due_at`).toHaveLength(0)
  })

  it('is found by polling without a hint', async () => {
    replica({ restMs: 50 }).start(work())
    await scratch.add(1)
    await allDone()
  })

  it('delays only a poison row, while the other rows of its batch are done', async () => {
    await scratch.add(40)
    const poison = 'ws_a_000017'
    const attempts: string[][] = []
    const attempt = (rows: readonly Job[]) => {
      const keys = rows.map(({ key }) => key)
      attempts.push(keys)
      if (keys.includes(poison)) throw new Error('cannot be done')
    }
    const started = replica({ restMs: 20 }).start(work({ batch: 50, attempt }))
    await waitUntilTrue(async () => {
      const row = (await scratch.jobs())[16]
      return row?.last_error === 'cannot be done' && (await scratch.left()) === 1
    })
    const before = attempts.length
    await scratch.add(40, { prefix: 'more' })
    await waitUntilTrue(async () => (await scratch.left()) === 1 && attempts.length > before + 3)
    // The poison row cost one batch its first attempt, and no other batch anything.
    const bisected = attempts.slice(0, before).filter((keys) => keys.length > 1 && keys.includes(poison))
    expect(bisected.length).toBeGreaterThan(0)
    expect(await scratch.jobs()).toContainEqual(expect.objectContaining({ id: poison, times_done: 0 }))
    expect(attempts.slice(before).filter((keys) => keys.length > 1 && keys.includes(poison))).toEqual([])
    await waitUntilTrue(() => started.counts().done === 79)
  })

  it('charges two rows with the failure when nothing succeeds, and does all of them once something does', async () => {
    await scratch.add(30)
    let isAway = true
    let attempts = 0
    const attempt = () => {
      attempts++
      if (isAway) throw new Error('the endpoint is unreachable')
    }
    replica({ restMs: 600_000 }).start(work({ batch: 30, attempt }))
    await waitUntilTrue(() => attempts >= 6)
    await waitUntilTrue(async () => (await scratch.listDelayed()).length + (await charged()) >= 2)
    expect(await charged()).toBeLessThan(30)
    isAway = false
    await allDone()
    expect(await timesDone()).toEqual(Array.from({ length: 30 }, () => 1))
  })
  const charged = async () => (await scratch.jobs()).filter(({ failures }) => failures > 0).length

  it('alternates between workspaces: a single job is done before a hundred batches of another workspace', async () => {
    await scratch.add(4_000)
    await scratch.add(1, { workspaceId: 'ws_b' })
    await scratch.add(1, { workspaceId: 'ws_0' })
    const order: string[] = []
    const attempt = (rows: readonly Job[]) => void order.push(...rows.map(({ workspace_id }) => workspace_id))
    replica().start(work({ batch: 20, attempt }))
    await waitUntilTrue(() => order.includes('ws_b') && order.includes('ws_0'))
    expect(Math.max(order.indexOf('ws_b'), order.indexOf('ws_0'))).toBeLessThan(200)
  })

  it.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])('uses the clock of the database, even when that of the process is an hour %s', async (_is, skewMs) => {
    await scratch.add(1, { prefix: 'due' })
    await scratch.add(1, { prefix: 'in_half_an_hour', inMs: 1_800_000 })
    await scratch.add(1, { prefix: 'leased' })
    await scratch.admin`update jobs set lease_owner = 'another', held_until = now() + interval '30 minutes'
      where id like 'leased%'`
    jest.useFakeTimers({ now: Date.now() + skewMs, doNotFake: realTimers })
    try {
      const started = replica({ restMs: 10 }).start(work())
      await waitUntilTrue(async () => (await scratch.left()) === 2)
      await scratch.add(1, { prefix: 'another' })
      await waitUntilTrue(async () => (await scratch.left()) === 2)
      await waitUntilTrue(() => started.counts().done === 2)
      expect(started.counts().claimed).toBe(2)
    } finally {
      jest.useRealTimers()
    }
  })
})

/** All timers except `Date`. */
const realTimers = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
]

describe('slots with a lower limit for each workspace', () => {
  const begin = async (count: number) => {
    const begun: string[] = []
    const attempt = (rows: readonly Job[], signal?: AbortSignal) => {
      begun.push(...rows.map(({ workspace_id }) => workspace_id))
      return stuck(rows, signal)
    }
    replica().start(byLease({ batch: 3, ofOne: 2, attempt }))
    await waitUntilTrue(() => begun.length === count)
    return begun.sort()
  }

  it('are left to other waiting workspaces, however many rows of one are due earlier', async () => {
    await scratch.add(5)
    await scratch.add(1, { workspaceId: 'ws_b' })
    expect(await begin(3)).toEqual(['ws_a', 'ws_a', 'ws_b'])
  })

  it('are all claimed for one workspace while no other waits', async () => {
    await scratch.add(5)
    expect(await begin(3)).toEqual(['ws_a', 'ws_a', 'ws_a'])
  })
})

describe('a lease', () => {
  it('of a killed holder expires, and its rows are done by others', async () => {
    await scratch.add(10)
    const program = fileURLToPath(new URL('../fixture/lease-and-hang.js', import.meta.url))
    const env = { ...process.env, SCHEMA: scratch.schema }
    const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'exit')
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await ended
    const [row] = await scratch.admin`select count(*)::int as leased from jobs where lease_owner = 'killed'`
    expect(row).toEqual({ leased: 10 })
    replica().start(byLease())
    await allDone()
    expect(await timesDone()).toEqual(Array.from({ length: 10 }, () => 1))
  })

  it('is renewed while the attempt lasts, however long', async () => {
    await scratch.add(1)
    let begun = 0
    let end: () => void = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const attempt = () => {
      begun++
      return ended
    }
    // Longer than a busy machine may delay a renewal, which happens three times per lease.
    const leaseMs = 5_000
    const started = replica().start(byLease({ leaseMs, attempt }))
    replica({ restMs: 50 }).start(byLease({ leaseMs, attempt }))
    await waitUntilTrue(() => begun > 0)
    const fenceAndEnd = async () =>
      (
        await scratch.admin<{ lease_fence: string; held_until: string }[]>`
        select lease_fence, held_until::text from jobs`
      )[0]
    try {
      const before = await fenceAndEnd()
      await waitUntilTrue(async () => (await fenceAndEnd())?.held_until !== before?.held_until)
      await waitUntilTrue(async () => {
        const [row] = await scratch.admin`select now() > ${before?.held_until ?? ''}::timestamptz as over`
        return row?.over
      })
      expect((await fenceAndEnd())?.lease_fence).toBe(before?.lease_fence)
    } finally {
      // Also if the lease was lost: stopping waits for every attempt.
      end()
    }
    await allDone()
    expect([begun, started.counts().lost]).toEqual([1, 0])
  })

  it('that has passed to another holder invalidates the result of the former one', async () => {
    await scratch.add(1)
    let end: () => void = () => {}
    const late = replica()
    const first = late.start(
      byLease({
        attempt: () =>
          new Promise<void>((resolve) => {
            end = resolve
          }),
      }),
    )
    await waitUntilTrue(
      async () => (await scratch.admin`select 1 from jobs where lease_owner is not null`).length > 0,
    )
    // Simulates a replica that was unavailable for longer than its lease.
    await scratch.admin`update jobs set held_until = now()`
    let cut: AbortSignal | undefined
    const attempt = (rows: readonly Job[], signal?: AbortSignal) => {
      cut = signal
      return stuck(rows, signal)
    }
    replica().start(byLease({ attempt }))
    await waitUntilTrue(() => cut !== undefined)
    end()
    await waitUntilTrue(() => first.counts().lost + first.counts().done > 0)
    expect(first.counts()).toMatchObject({ lost: 1, done: 0 })
    expect(await scratch.jobs()).toMatchObject([{ times_done: 0 }])
    const [row] = await scratch.admin`select lease_fence from jobs where lease_owner is not null`
    expect(row).toEqual({ lease_fence: '2' })
  })

  it('is released by a replica that stops, once work in flight has had time to finish', async () => {
    await scratch.add(3)
    const group = replica()
    let begun = false
    group.start(
      byLease({
        attempt: (rows, signal) => {
          begun = true
          return stuck(rows, signal)
        },
      }),
    )
    await waitUntilTrue(() => begun)
    await group.close(0)
    const rows = await scratch.admin`select lease_owner, held_until, failures from jobs`
    expect(rows).toEqual(
      Array.from({ length: 3 }, () => ({ lease_owner: null, held_until: null, failures: 0 })),
    )
  })

  it('is not acquired any more by a replica that drains work in flight', async () => {
    await scratch.add(20)
    const group = replica()
    let end: () => void = () => {}
    const attempt = () =>
      new Promise<void>((resolve) => {
        end = resolve
      })
    group.start(byLease({ batch: 8, attempt }))
    const leasedRows = async () =>
      (await scratch.admin`select 1 from jobs where lease_owner is not null`).length
    await waitUntilTrue(async () => (await leasedRows()) === 8)
    const closed = group.close(600_000)
    end()
    await closed
    expect([await leasedRows(), await scratch.left()]).toEqual([0, 12])
  })
})

it('an attempt is aborted at its deadline, even after a garbage collection', async () => {
  await scratch.add(1)
  let begun = false
  const attempt = (rows: readonly Job[], signal?: AbortSignal) => {
    begun = true
    return stuck(rows, signal)
  }
  const started = replica().start(byLease({ deadlineMs: 300, attempt }))
  await waitUntilTrue(() => begun)
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  collectGarbage()
  await waitUntilTrue(() => started.counts().failed > 0)
})

it('other replicas are woken when more rows are due than one can claim', async () => {
  await scratch.add(30)
  const listeners = new Map<string, () => void>()
  const hints = (name: string) => ({
    send: () => {
      for (const [other, wake] of listeners) if (other !== name) wake()
    },
    subscribe: (_work: string, wake: () => void) => {
      listeners.set(name, wake)
      return () => void listeners.delete(name)
    },
  })
  const works = ['one', 'other'].map((name) =>
    replica({ restMs: 600_000, hints: hints(name) }).start(byLease({ batch: 4, attempt: stuck })),
  )
  await waitUntilTrue(() => works.every((work) => work.counts().claimed >= 4))
})

it('several idle kinds of work share one statement, and need no more until the next row is due', async () => {
  const { sql } = scratch
  let statements = 0
  const counting = new Proxy(sql, {
    get(target, name, receiver) {
      if (name === 'unsafe' || name === 'begin') statements++
      return Reflect.get(target, name, receiver)
    },
  })
  const group = replica({ sql: counting, restMs: 600_000 })
  for (const name of ['one', 'two', 'three'])
    group.start(transactionWorker({ ...common, name, batch: 5, perform: finish }))
  await scratch.add(1, { inMs: 3_600_000 })
  await waitUntilTrue(() => statements === 1)
  group.start(byLease())
  await waitUntilTrue(() => statements === 2)
  await group.close()
  expect(statements).toBe(2)
})
