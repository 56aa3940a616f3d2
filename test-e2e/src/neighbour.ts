import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import {
  bootstrapOwner,
  type Cluster,
  choosePorts,
  mapNames,
  openState,
  planServices,
  provisionAll,
  serviceProcess,
} from '@opsplane/local'
import { waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { type CreateLoad, startCreating } from './crash-load.js'
import { listEventsInStream } from './event-trail.js'
import { apiClient } from './platform.js'

const natsPrefix = 'neighbour'
const database = 'neighbour'
const running: readonly ServiceName[] = ['settings', 'itsm', 'gateway']

/** Another installation on the Postgres and NATS of a cluster, in which incidents are created. */
export interface Neighbour {
  load: CreateLoad
  /** Stops its load, then checks that each installation's log, stream and audit log contain only its own events. */
  nothingIsShared(): Promise<void>
  stop(): Promise<void>
}

export async function startNeighbour({ info }: Cluster): Promise<Neighbour> {
  const folder = mkdtempSync(join(process.env.KEEP_E2E_STATE ?? tmpdir(), 'opsplane-neighbour-'))
  const state = openState(folder)
  const secrets = state.secrets()
  const own = postgres(info.postgresUrl, { max: 1, onnotice: () => {} })
  await own`create database ${own(database)}`
  const url = new URL(info.postgresUrl)
  url.pathname = `/${database}`
  const databaseUrls = await provisionAll(url.href, secrets.databasePasswords, secrets.installation)
  const ports = await choosePorts()
  const origin = `http://127.0.0.1:${ports.gateway}`
  // Users are configured in the server; the prefix separates the two installations.
  const natsUrls = mapNames(serviceNames, () => info.natsUrl)
  const extra = { RATE_LIMIT_PER_MINUTE: '60000', DATABASE_POOL_SIZE: '3' }
  const plan = planServices({ secrets, databaseUrls, natsUrls, natsPrefix, ports, origin, extra })
  const services = running.map((name) =>
    serviceProcess({ name, env: plan[name], logFile: join(folder, `${name}.log`) }),
  )
  const neighbourSql = postgres(url.href, { max: 1, onnotice: () => {} })
  const stop = async () => {
    await Promise.all(services.map((service) => service.stop()))
    await Promise.all([own, neighbourSql].map((sql) => sql.end({ timeout: 5 })))
    if (process.env.KEEP_E2E_STATE === undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    for (const service of services) await service.start()
    const settingsUrl = `http://127.0.0.1:${ports.settings}`
    const owner = await bootstrapOwner({ secrets, settingsUrl, origin })
    const load = startCreating(apiClient({ baseUrl: `${origin}/api/v1`, ...owner }), {
      changes: 1,
      pauseMs: 500,
    })
    return {
      load,
      stop: async () => {
        await load.stop()
        await stop()
      },
      async nothingIsShared() {
        await load.stop()
        const [mine, others] = [await loggedIn(own), await loggedIn(neighbourSql)]
        expect(load.acknowledged.size).toBeGreaterThan(0)
        for (const id of load.acknowledged.values()) expect(others.streams).toContain(id)
        const patience = { intervalMs: 500 }
        // All events of the installation arrive, and no others.
        for (const [prefix, events] of [
          ['', mine],
          [natsPrefix, others],
        ] as const)
          await waitFor(async () => {
            const inStream = new Set(await listEventsInStream(info.natsUrl, prefix))
            return [...events.ids].every((id) => inStream.has(id))
          }, patience)
        const streamed = new Set(await listEventsInStream(info.natsUrl))
        const theirStream = new Set(await listEventsInStream(info.natsUrl, natsPrefix))
        expect([...others.ids].filter((id) => streamed.has(id))).toEqual([])
        expect([...mine.ids].filter((id) => theirStream.has(id))).toEqual([])
        expect(others.audited.filter((id) => mine.ids.has(id))).toEqual([])
        expect(mine.audited.filter((id) => others.ids.has(id))).toEqual([])
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Events in the logs of the services that both installations run, and in the audit log. */
async function loggedIn(sql: postgres.Sql) {
  const events = await sql<{ id: string; stream: string }[]>`
    select id, stream_id as stream from itsm.events union all select id, stream_id from settings.events`
  const audited = await sql<{ id: string }[]>`select id from settings.audit_log`
  return {
    ids: new Set(events.map(({ id }) => id)),
    streams: new Set(events.map(({ stream }) => stream)),
    audited: audited.map(({ id }) => id),
  }
}
