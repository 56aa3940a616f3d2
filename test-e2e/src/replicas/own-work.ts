import { expect } from '@jest/globals'
import type { ServiceName } from '@opsplane/contracts'
import type { Releasers } from '@opsplane/runtime'
import { startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { type Api, apiClient } from '../platform.js'
import { fireTimes, type Ticking } from './fire-times.js'
import type { ReplicatedPlatform } from './platform.js'

/** Scheduled and other due work of services. */
export interface OwnWork {
  /**
   * Each starts long work; resolves with the replica that works on it, and a function that waits for its successful
   * end.
   */
  inHand: Record<string, () => Promise<WorkInFlight>>
  /** Resolves once each schedule has fired several times more. */
  goesOn(after: string): Promise<void>
  /** Compares the work of each schedule with its times. */
  firedOnce(): Promise<void>
}

export interface WorkInFlight {
  service: ServiceName
  /** Owner as recorded in its leases; begins with its INSTANCE_ID, such as `workflows-1`. */
  holder: string
  ended(): Promise<void>
}

/** Short leases, so that the work of a killed replica is soon claimed by another one, and small parts of exports. */
export const shortLeases = {
  NATS_ACK_WAIT_MS: '1000',
  WORKFLOW_LEASE_MS: '2000',
  SDK_LEASE_MS: '2000',
  EXPORT_LEASE_MS: '2000',
  EXPORT_PART_BYTES: '16384',
}

const responseDelayMs = 6_000
const schedule = { everySeconds: 2, misfire: 'all', overlap: 'queue', maxCatchUp: 100 }

const pack = {
  manifest: {
    ...{ format: 'opsplane.pack/1', name: 'clock', version: '1.0.0' },
    artifacts: [
      { slug: 'tick', kind: 'scheduled', source: 'tick.ts', retryable: true },
      {
        slug: 'slow',
        kind: 'scheduled',
        source: 'slow.ts',
        retryable: true,
        limits: { cpuMs: 10_000, wallMs: 30_000 },
      },
    ],
  },
  files: {
    'tick.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async () => 'tick')`,
    'slow.ts': `import { artifact } from '@opsplane/sdk'
      export default artifact(async () => {
        const until = Date.now() + 3_000
        while (Date.now() < until);
        return 'done'
      })`,
  },
}

/** Enough rows for many parts of an export. */
const manyRows = 800

/** Everything it opens is registered with `releasers`. */
export async function startOwnWork(
  { info, certificate }: ReplicatedPlatform,
  releasers: Pick<Releasers, 'add'>,
): Promise<OwnWork> {
  const api = apiClient(info)
  const sql = postgres(info.postgresUrl, { max: 1, onnotice: () => {} })
  releasers.add('postgres', () => sql.end({ timeout: 5 }))
  const receiver = await startReceiver({
    tls: { key: certificate.key, cert: certificate.cert },
    respond: () => ({ status: 200, body: '{}', delayMs: responseDelayMs }),
  })
  releasers.add('receiver', () => receiver.stop())
  const make = makerOf(api)
  await make('/sdk/packs/install', { ...pack, grant: {} })
  const slowWorkflow = await published(make, 'Held', {
    steps: [
      {
        id: 'call',
        type: 'http',
        method: 'POST',
        url: `${receiver.url}/held`,
        body: {},
        retry: { attempts: 5 },
      },
    ],
  })
  await manyIncidents(api)
  const ticking = await startTicking(make)
  const times = fireTimes(sql, ticking, schedule.everySeconds)

  /** The replica that leases the row. */
  const holderOf = (service: ServiceName, table: string, id: string) =>
    waitFor(
      async () => {
        const [row] = await sql<{ leaseOwner: string | null }[]>`
          select lease_owner as "leaseOwner" from ${sql(`${service.replaceAll('-', '_')}.${table}`)} where id = ${id}`
        return row?.leaseOwner ?? undefined
      },
      { intervalMs: 5, message: `a replica to lease ${id}` },
    )

  return {
    inHand: {
      'a run': async () => {
        const { runId: id } = await make<{ runId: string }>(`/workflows/${slowWorkflow}/trigger`, {})
        await waitFor(() => receiver.received().length > 0)
        const holder = await holderOf('workflows', 'runs', id)
        return { service: 'workflows', holder, ended: () => completed(api, `/runs/${id}`) }
      },
      'an execution': async () => {
        const startAt = new Date(Date.now() + 2_000).toISOString()
        const once = { everySeconds: 3_600, startAt }
        const job = await make('/sdk/scheduled-jobs', { name: 'Slow', artifact: 'slow', schedule: once })
        const id = await executionOf(sql, job.id)
        const holder = await holderOf('sdk', 'executions', id)
        return { service: 'sdk', holder, ended: () => completed(api, `/../service-sdk/executions/${id}`) }
      },
      'an export': async () => {
        const id = await caughtExport(make, sql)
        const holder = await holderOf('analytics', 'export_jobs', id)
        const waitForExport = async () => {
          await completed(api, `/analytics/exports/${id}`)
          const fences = await sql`
            select distinct split_part(split_part(name, '/', 2), '-', 1) from analytics.export_objects
            where export_id = ${id} and part is not null`
          // Parts written before the kill remain in the file.
          expect(fences.length).toBeGreaterThan(1)
        }
        return { service: 'analytics', holder, ended: waitForExport }
      },
    },
    goesOn: times.goOn,
    firedOnce: times.firedOnce,
  }
}

type Make = <T = { id: string }>(path: string, body: object) => Promise<T>

const makerOf =
  (api: Api): Make =>
  async <T>(path: string, body: object) => {
    const answer = await api<{ data: T }>('POST', path, { body })
    expect([path, answer.status < 300 ? 'made' : answer]).toEqual([path, 'made'])
    return answer.body.data
  }

async function published(make: Make, name: string, definition: object): Promise<string> {
  const { id } = await make('/workflows', { name, definition })
  await make(`/workflows/${id}/publish`, {})
  await make(`/workflows/${id}/activate`, {})
  return id
}

async function manyIncidents(api: Api): Promise<void> {
  for (let n = 0; n < manyRows; n += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        api('POST', '/itsm/incidents', { body: { title: `${'exported '.repeat(20)}${n + at}` } }),
      ),
    )
}

/** Creates a workflow, a job and a KPI that fire by a schedule. */
async function startTicking(make: Make): Promise<Ticking> {
  const trigger = { type: 'schedule', schedule }
  const workflow = await published(make, 'Ticks', {
    ...{ trigger, concurrency: { limit: 1 }, steps: [{ id: 'tick', type: 'transform', value: 'tick' }] },
  })
  const job = await make('/sdk/scheduled-jobs', { name: 'Ticks', artifact: 'tick', schedule })
  const kpi = await make('/analytics/kpis', {
    ...{ name: 'Ticks', direction: 'down', period: { last: 'day' }, timeZone: 'UTC', schedule },
    source: { measure: { dataset: 'incidents', measure: 'incidents' } },
  })
  return { workflow, job: job.id, kpi: kpi.id }
}

const completed = async (api: Api, path: string) => {
  const finalState = await waitFor(
    async () => {
      const { status, error } = (await api<{ data: { status: string; error: unknown } }>('GET', path)).body
        .data
      return !['pending', 'running', 'queued', 'paused'].includes(status) && { status, error }
    },
    { message: `the end of ${path}` },
  )
  expect([path, finalState.status, finalState.error ?? null]).toEqual([path, 'completed', null])
}

const executionOf = (sql: postgres.Sql, job: string) =>
  waitFor(
    async () => (await sql<{ id: string }[]>`select id from sdk.executions where trigger_id = ${job}`)[0]?.id,
    { intervalMs: 20, message: 'the job to begin' },
  )

/** An export of which some parts are written, and others not yet. */
async function caughtExport(make: Make, sql: postgres.Sql): Promise<string> {
  const range = { last: 1, unit: 'day' }
  const source = { facts: { dataset: 'incidents', columns: ['number', 'title', 'severity'], range } }
  for (;;) {
    const { id } = await make('/analytics/exports', { name: 'All', format: 'csv', source })
    const caught = await waitFor(
      async () => {
        const [job] = await sql`select phase, parts from analytics.export_jobs where id = ${id}`
        if (job?.phase !== 'write') return 'missed'
        return job.parts > 0 && 'caught'
      },
      { intervalMs: 2 },
    )
    if (caught === 'caught') return id
  }
}
