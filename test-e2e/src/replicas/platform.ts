import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleServices } from '@opsplane/bundler'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import {
  bootstrapOwner,
  eachOf,
  type LocalInfo,
  makeReceiverCertificate,
  natsAuthorization,
  natsUrlsOf,
  openState,
  planServices,
  provisionAll,
  type ReceiverCertificate,
  type RestartableServer,
  type ServiceProcess,
  serviceProcess,
} from '@opsplane/local'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { createLogger, createReleasers } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { type Pooler, pgbouncer, startPooler } from '@opsplane/testing'
import { fillState } from '../prepared-state.js'
import { type Balancer, startBalancer } from './balancer.js'
import { startNatsServers } from './nats-servers.js'

export interface ReplicasOptions {
  /** All of them unless given; those others need have to be among them. */
  services?: readonly ServiceName[]
  /** Of each service. */
  replicas?: number
  natsServers?: number
  /** Postgres stands behind one that gives each transaction a connection. */
  pooler?: boolean
  /** Added to the environment of every service. */
  extra?: Record<string, string>
}

/** A replica: a process on a port of its own, in the balancer of its service. */
export interface Replica extends ServiceProcess {
  port: number
  /** Ends it as an orchestrator does: SIGTERM, and no new connections from then on. Resolves with the exit code. */
  retire(): Promise<number | null>
  /** Starts it again after `retire`. */
  rejoin(): Promise<void>
}

export interface ReplicatedPlatform {
  info: LocalInfo
  /** How many gateways there are, each with an origin of its own. */
  gateways: readonly string[]
  replicas: Partial<Record<ServiceName, readonly Replica[]>>
  nats: readonly RestartableServer[]
  certificate: ReceiverCertificate
  folder: string
  stop(): Promise<void>
}

/** The platform with several processes of each service, on servers of its own; its folder goes away with it. */
export async function startReplicas(options: ReplicasOptions = {}): Promise<ReplicatedPlatform> {
  const releasers = createReleasers(createLogger({ service: 'replicas', level: 'silent' }))
  try {
    return await start(options, releasers)
  } catch (error) {
    await releasers.release().catch(() => {})
    throw error
  }
}

type Releasers = ReturnType<typeof createReleasers>

async function start(options: ReplicasOptions, releasers: Releasers): Promise<ReplicatedPlatform> {
  const { services = serviceNames, replicas: count = 2, natsServers = 1 } = options
  await bundleServices()
  const folder = await temporaryFolder(releasers)
  await fillState(join(folder, 'state'))
  const state = openState(join(folder, 'state'))
  const certificate = await makeReceiverCertificate(state.tlsDir)
  const nats = await startNatsServers(folder, natsServers, () => natsAuthorization(state.secrets()))
  releasers.add('nats', nats.stop)
  const { natsUrl, natsUrls } = natsUrlsOf(nats.url, state.secrets().natsPasswords)
  const postgres = await startEmbeddedPostgres({
    dataDir: state.postgresDir,
    port: await freePort(),
    flags: ['max_connections=400'],
  })
  releasers.add('postgres', () => postgres.stop())
  const secrets = state.secrets()
  const databaseUrls = await provisionAll(postgres.url, secrets.databasePasswords)
  if (options.pooler) {
    const pooler = await poolerOf(postgres.url, secrets.databasePasswords, releasers)
    for (const name of Object.keys(databaseUrls) as (keyof typeof databaseUrls)[]) {
      // The studio's connections are logins of tenants: no pooler of transactions may stand there.
      if (name !== 'database-studio') databaseUrls[name] = pooler.urlOf(new URL(databaseUrls[name]).username)
    }
  }
  const balancers = await balancersOf(services, releasers)
  const ports = eachOf(serviceNames, (name) => balancers.get(name)?.port ?? 1)
  const origin = `http://127.0.0.1:${ports.gateway}`
  const plan = planServices({
    ...{ secrets, databaseUrls, natsUrls, ports, origin, webhookCaFile: certificate.caFile },
    extra: { NATS_STREAM_REPLICAS: String(natsServers), DRAIN_DELAY_MS: '1500', ...options.extra },
  })

  const replicas: Partial<Record<ServiceName, Replica[]>> = {}
  for (const name of services) {
    replicas[name] = []
    for (let n = 0; n < count; n++) {
      const port = await freePort()
      const env = { ...plan[name], PORT: String(port), INSTANCE_ID: `${name}-${n}` }
      const process_ = serviceProcess({ name, env, logFile: join(state.root, `${name}-${n}.log`) })
      releasers.add(`${name}-${n}`, async () => void (await process_.kill()))
      replicas[name].push(replicaOf(process_, port, balancers.get(name)))
    }
  }
  const backends = services.filter((name) => name !== 'gateway')
  for (const name of [...backends, 'gateway' as const])
    await Promise.all((replicas[name] ?? []).map((replica) => replica.rejoin()))
  const settingsUrl = `http://127.0.0.1:${ports.settings}`
  const owner = await bootstrapOwner({ secrets, settingsUrl, origin })
  return {
    info: {
      ...{ origin, baseUrl: `${origin}/api/v1`, ...owner, postgresUrl: postgres.url },
      ...{ natsUrl, pid: process.pid },
    },
    gateways: (replicas.gateway ?? []).map(({ url }) => url),
    replicas,
    nats: nats.servers,
    certificate,
    folder,
    stop: () => releasers.release(),
  }
}

async function temporaryFolder(releasers: Releasers): Promise<string> {
  const folder = mkdtempSync(join(process.env.KEEP_E2E_STATE ?? tmpdir(), 'opsplane-replicas-'))
  releasers.add('folder', () => {
    if (process.env.KEEP_E2E_STATE === undefined)
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  return folder
}

async function poolerOf(
  databaseUrl: string,
  passwords: Readonly<Record<string, string>>,
  releasers: Releasers,
): Promise<Pooler> {
  if (pgbouncer === undefined) throw new Error('there is no pgbouncer here')
  const users = Object.fromEntries(
    Object.entries(passwords).map(([service, password]) => [service.replaceAll('-', '_'), password]),
  )
  const pooler = await startPooler({ databaseUrl, users, poolSize: 12 })
  releasers.add('pooler', () => pooler.stop())
  return pooler
}

async function balancersOf(services: readonly ServiceName[], releasers: Releasers) {
  const balancers = new Map<ServiceName, Balancer>()
  for (const name of services) {
    const balancer = await startBalancer()
    releasers.add(`balancer of ${name}`, () => balancer.close())
    balancers.set(name, balancer)
  }
  return balancers
}

function replicaOf(process_: ServiceProcess, port: number, balancer: Balancer | undefined): Replica {
  return {
    ...process_,
    port,
    async retire() {
      const ended = process_.stop()
      balancer?.remove(port)
      return ended
    },
    async rejoin() {
      await process_.start()
      balancer?.add(port)
    },
  }
}
