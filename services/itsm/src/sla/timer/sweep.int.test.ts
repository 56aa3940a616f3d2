import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Incident } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { attemptDueWork, connect } from '@opsplane/postgres'
import { createLogger, type RunningService } from '@opsplane/runtime'
import {
  searchTimes,
  startTestService,
  type TestService,
  testPrincipal,
  uniquePrefix,
  waitFor,
} from '@opsplane/testing'
import { itsm } from '../../service.js'
import { createClocks } from './clocks.js'
import { copyClocks, withoutListIndexes } from './sweep.fixture.js'

const hourMs = 3_600_000
const log = createLogger({ service: 'test', level: 'silent' })
/** The service's clock is three hours behind: nothing is due for it, while everything is due at the actual time. */
const past = new Date(Date.now() - 3 * hourMs).toISOString()

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock: { now: () => past } } })
})
afterAll(() => service?.stop())

async function openIncidents(count: number): Promise<void> {
  const api = service.as(testPrincipal())
  await api.post('/itsm/sla-policies', {
    name: 'Gold',
    metric: 'resolution',
    goals: { medium: 60 },
    warnings: [50],
  })
  for (let done = 0; done < count; done += 50)
    await Promise.all(
      Array.from({ length: 50 }, async () =>
        (await api.post('/itsm/incidents', { title: 'Checkout answers 502' })).data(Incident),
      ),
    )
}

function replica() {
  const main = fileURLToPath(new URL('../../../bundle/main.cjs', import.meta.url))
  const child = spawn(process.execPath, [main], {
    env: { ...service.env, INSTANCE_ID: uniquePrefix(), PORT: '0' },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  return async () => {
    child.kill('SIGKILL')
    await exited
  }
}

it('reports every breach once, whichever replica is killed and however many replicas sweep', async () => {
  const count = searchTimes > 1 ? 800 : 300
  await openIncidents(count)
  const reported = async (type: string) => {
    const [row] = await service.sql<{ events: number; clocks: number }[]>`
      select count(*)::int as events, count(distinct coalesce(data->>'timerId', stream_id))::int as clocks
      from events where type = ${type}`
    return row
  }
  await waitFor(async () => (await reported('sla.started'))?.events === count)
  expect(await reported('sla.breached')).toEqual({ events: 0, clocks: 0 })

  const kills = [replica(), replica()]
  await waitFor(async () => ((await reported('sla.breached'))?.events ?? 0) > 0, {
    intervalMs: 1,
  })
  await Promise.all(kills.map((kill) => kill()))
  const others: RunningService[] = await Promise.all([service.replica(), service.replica()])
  try {
    const all = { events: count, clocks: count }
    await waitFor(async () => (await reported('sla.breached'))?.clocks === count)
    expect(await reported('sla.breached')).toEqual(all)
    expect(await reported('incident.sla_breached')).toEqual(all)
    expect(await reported('sla.warning')).toEqual(all)
    const late = await service.sql`
      select 1 from events where type = 'sla.breached'
      and (data->>'breachedAt' <> data->>'dueAt' or data->>'detectedAt' <= data->>'breachedAt')`
    expect(late).toHaveLength(0)
  } finally {
    await Promise.all(others.map((other) => other.stop()))
  }
})

it('reports all clocks except one that cannot be read and one whose entity cannot be applied', async () => {
  await openIncidents(50)
  const id = await waitFor(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select id from sla_timers where clock_state = 'running' and next_fire_at > ${past} limit 1`
    return row?.id
  })
  const database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
  const { sql } = database
  const now = new Date(Date.parse(past) + 600_000).toISOString()
  const due = new Date(Date.parse(past) + 300_000).toISOString()
  try {
    await copyClocks(sql, id, { from: 900_001, to: 900_040 }, due)
    const idOf = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, '0')}`
    await sql`update sla_timers set state = (state::jsonb || '{"ledger": "none"}')::json
      where id = ${idOf('tmr', 900_007)}`
    // Has an event that is not applied yet and whose state is not a valid incident.
    await sql`update incidents set version = 2 where id = ${idOf('inc', 900_008)}`
    await sql`insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data, created_at)
      select new_event_id(), 'incidents', i.id, 2, 'incident.updated', i.workspace_id, i.environment, '{}', '{}',
        '{"after": {"id": 1}}', now() from incidents i where i.id = ${idOf('inc', 900_008)}`
    const clocks = createClocks({
      ...{ database, store: createEventStore({ database }) },
      clock: { now: () => now },
    })
    const sweep = () => attemptDueWork(clocks.worker, { sql, log, simulated: { now: () => now } })
    expect(await sweep()).toMatchObject({ done: 38, failed: 1 })
    const left = await sql`select id, failures from sla_timers
      where id between ${idOf('tmr', 900_001)} and ${idOf('tmr', 900_040)} and held_until > ${now} order by id`
    expect(left).toEqual([
      { id: idOf('tmr', 900_007), failures: 1 },
      { id: idOf('tmr', 900_008), failures: 1 },
    ])
    expect(await sweep()).toMatchObject({ claimed: 0 })
  } finally {
    await database.close()
  }
})

const many = Number(process.env.TEST_CLOCKS ?? 5_000)

it(`takes as many statements for five hundred due among ${many} as for one`, async () => {
  await openIncidents(50)
  const id = await waitFor(async () => {
    const [row] = await service.sql<{ id: string }[]>`
      select id from sla_timers where clock_state = 'running' and next_fire_at > ${past} limit 1`
    return row?.id
  })
  const database = connect(service.adminUrl, { schema: 'itsm', max: 2 })
  let statements = 0
  const counting = <Runner extends { unsafe: unknown }>(runner: Runner): Runner =>
    new Proxy(runner, {
      get(target, name, receiver) {
        if (name === 'unsafe') statements++
        const found: unknown = Reflect.get(target, name, receiver)
        if (name !== 'savepoint' || typeof found !== 'function') return found
        return (work: (inner: Runner) => unknown) => found((inner: Runner) => work(counting(inner)))
      },
    })
  const begin = (work: (tx: typeof database.sql) => Promise<unknown>) =>
    database.sql.begin((tx) => work(counting(tx) as unknown as typeof database.sql))
  const sql = new Proxy(counting(database.sql), {
    get: (target, name, receiver) => (name === 'begin' ? begin : Reflect.get(target, name, receiver)),
  })
  const counted = { ...database, sql }
  // Due for this sweep, but not for the service's own sweep. The incidents opened above are not due either.
  const later = (minutes: number) => new Date(Date.parse(past) + minutes * 60_000).toISOString()
  try {
    const clocks = createClocks({
      database: counted,
      store: createEventStore({ database: counted }),
      clock: { now: () => later(10) },
    })
    const [due, far] = [later(5), later(24 * 60)]
    const sweepOf = async (expected: number) => {
      statements = 0
      const { done } = await attemptDueWork(clocks.worker, { sql, log, simulated: { now: () => later(10) } })
      expect(done).toBe(expected)
      return statements
    }
    await copyClocks(database.sql, id, { from: 1, to: 2 }, due)
    expect(await sweepOf(2)).toBeGreaterThan(0)
    await copyClocks(database.sql, id, { from: 3, to: 3 }, due)
    const one = await sweepOf(1)
    await withoutListIndexes(database.sql)
    await copyClocks(database.sql, id, { from: 1_001, to: 1_000 + many }, far)
    await copyClocks(database.sql, id, { from: many + 2_000, to: many + 2_499 }, due)
    expect(await sweepOf(500)).toBe(one)
    expect(await sweepOf(0)).toBeLessThan(one)
  } finally {
    await database.close()
  }
})
