import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createLogger } from '@opsplane/runtime'
import { type ClaimedRow, type DueWorkGroup, leasedWorker, openClient, residentWorker } from '../index.js'
import { finish, type Job, jobs, type ScratchJobs, scratchJobs, waitUntilTrue } from './scratch.fixture.js'

let scratch: ScratchJobs
let group: DueWorkGroup
let role: string
let closeClient: () => Promise<void>
const said: string[] = []
const log = createLogger({
  service: 'test',
  level: 'info',
  destination: { write: (line) => void said.push(JSON.parse(line).msg) },
})

/** One replica, with a login that can be locked out. */
beforeEach(async () => {
  scratch = await scratchJobs('due_outage_test')
  const { admin, schema } = scratch
  role = `${schema}_role`
  await admin.unsafe(`drop role if exists ${role}; create role ${role} login password 'x';
    grant usage on schema ${schema} to ${role}; grant all on jobs to ${role}`)
  const url = new URL(process.env.TEST_DATABASE_URL ?? '')
  Object.assign(url, { username: role, password: 'x' })
  const sql = openClient(url.href, { schema, max: 4 })
  closeClient = () => sql.end()
  said.length = 0
  group = scratch.replica({ sql, log, restMs: 20 })
})
afterEach(async () => {
  await group.close(0)
  await closeClient()
  await scratch.admin.unsafe(`drop owned by ${role}; drop role ${role}`)
  await scratch.close()
})

/** Locks the login out while `meanwhile` runs, and until the replica has noticed. */
async function lockedOut(meanwhile: () => Promise<unknown>) {
  const { admin } = scratch
  await admin.unsafe(`alter role ${role} nologin`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${role}`
  await waitUntilTrue(() => said.length > 0)
  await meanwhile()
  await admin.unsafe(`alter role ${role} login`)
}

const common = { name: 'jobs', of: jobs, columns: ['workspace_id'] }
const byLease = (attempt: (row: Job, signal: AbortSignal) => Promise<unknown>, leaseMs = 30_000) =>
  leasedWorker<Job, undefined>({
    ...{ ...common, batch: 16, leaseMs, deadlineMs: 600_000 },
    async perform([row], signal) {
      await attempt(row as Job, signal)
      return [undefined]
    },
    done: (tx, finished) =>
      finish(
        tx,
        finished.map(({ row }) => row),
      ),
  })

it('waits while Postgres is unavailable, and logs once when that begins and once when it ends', async () => {
  group.start(byLease(async () => {}))
  await scratch.add(5)
  await waitUntilTrue(async () => (await scratch.left()) === 0)
  await lockedOut(() => scratch.add(5, { prefix: 'meanwhile' }))
  await waitUntilTrue(async () => (await scratch.left()) === 0)
  await waitUntilTrue(() => said.length > 1)
  // The error of the terminated connections may occur before or after the rejection of new ones.
  expect(said).toEqual([
    expect.stringMatching(/^Postgres (cannot be reached|refuses the login of this service); due work waits$/),
    'due work is being claimed again',
  ])
})

/** Attempts that never end unless they are aborted. */
const stuck = (begun: string[], leaseMs?: number) =>
  byLease(({ key }, signal) => {
    begun.push(key)
    return new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
  }, leaseMs)

/** A holder that never releases its rows. */
function inMemory(begun: string[], leaseMs = 30_000) {
  const inHand: ClaimedRow[] = []
  return residentWorker<Job>({
    ...{ ...common, leaseMs },
    work: {
      capacity: () => ({ all: 16, ofOne: 16, full: new Set() }),
      waitForCapacity: () => new Promise(() => {}),
      leasedRows: () => inHand,
      accept(rows) {
        inHand.push(...rows)
        begun.push(...rows.map(({ key }) => key))
      },
      onLeasesLost: () => {},
      drain: async () => {},
    },
  })
}

describe.each([
  ['an attempt', stuck],
  ['a holder', inMemory],
])('%s in flight when Postgres becomes unavailable', (_, work) => {
  it('continues, even after an outage longer than the lease', async () => {
    const begun: string[] = []
    group.start(work(begun))
    await scratch.add(1, { prefix: 'before' })
    await waitUntilTrue(() => begun.length > 0)
    await lockedOut(async () => {
      await scratch.admin`update jobs set held_until = now()`
      await scratch.add(1, { prefix: 'then' })
    })
    await waitUntilTrue(() => begun.some((key) => key.startsWith('then')))
    const [row] = await scratch.admin`select lease_fence, failures from jobs where id like 'before%'`
    expect(row).toEqual({ lease_fence: '1', failures: 0 })
    expect(begun).toEqual(['before_000001', 'then_000001'])
  })

  it('has its lease renewed before anything is claimed', async () => {
    const begun: string[] = []
    const asked: string[] = []
    let isAway = false
    const sql = new Proxy(scratch.sql, {
      get(target, name, receiver) {
        if (name !== 'unsafe') return Reflect.get(target, name, receiver)
        return (...statement: Parameters<typeof target.unsafe>) => {
          if (isAway) return Promise.reject(new Error('away'))
          if (statement[0].includes('held_until =')) asked.push(begins(statement[0]))
          return target.unsafe(...statement)
        }
      },
    })
    const other = scratch.replica({ sql, restMs: 10 })
    other.start(work(begun, 300))
    await scratch.add(1)
    await waitUntilTrue(() => begun.length > 0)
    isAway = true
    await waitUntilTrue(
      async () => (await scratch.admin`select 1 from jobs where held_until < now()`).length > 0,
    )
    await scratch.add(1, { prefix: 'then' })
    asked.length = 0
    isAway = false
    await waitUntilTrue(() => begun.length > 1)
    await other.close(0)
    expect(asked[0]).toBe('update')
  })
})

/** The first word: `with` for a claim, `update` for a renewal. */
const begins = (statement: string) => statement.trim().split(' ')[0] ?? ''
