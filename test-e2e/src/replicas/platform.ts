import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlePrograms, serviceBundle } from '@opsplane/bundler'
import { type ServiceName, serviceNames } from '@opsplane/contracts'
import {
  bootstrapOwner,
  buildDatabaseUrls,
  buildNatsUrls,
  type LocalInfo,
  makeReceiverCertificate,
  mapNames,
  natsAuthorization,
  openState,
  planServices,
  prepareState,
  provisionAll,
  type ReceiverCertificate,
  type RestartableServer,
  type ServiceProcess,
  serviceProcess,
} from '@opsplane/local'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { createLogger, createReleasers, delay } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { type Pooler, pgbouncer, startPooler } from '@opsplane/testing'
import { fillState } from '../prepared-state.js'
import { type Balancer, startBalancer } from './balancer.js'
import { startNatsServers } from './nats-servers.js'

export interface ReplicasOptions {
  /** Defaults to all services; must include those that others depend on. */
  services?: readonly ServiceName[]
  /** Number of replicas of each service. */
  replicas?: number
  natsServers?: number
  /** Puts a pooler in front of Postgres that assigns a connection to each transaction. */
  pooler?: boolean
  /** Added to the environment of every service. */
  extra?: Record<string, string>
  /** Folder of the initial version, built and bundled; defaults to this version. */
  version?: string
}

/** A process of a service on its own port, behind the service's balancer. */
export interface Replica extends ServiceProcess {
  port: number
  /**
   * Ends the replica as an orchestrator does: no new connections, and SIGTERM, after a pause if the version does not
   * pause by itself. Resolves with the exit code.
   */
  retire(pauseMs?: number): Promise<number | null>
  /** Starts the replica again after `retire`, from the folder of this or another version. */
  rejoin(version?: string): Promise<void>
}

export interface ReplicatedPlatform {
  info: LocalInfo
  /** Origin of each gateway. */
  gateways: readonly string[]
  replicas: Partial<Record<ServiceName, readonly Replica[]>>
  nats: readonly RestartableServer[]
  certificate: ReceiverCertificate
  /** Migrates the databases to this version, as the upgrade command does. */
  migrate(): Promise<unknown>
  stop(): Promise<void>
}

/** The platform with several processes of each service, on its own servers; its folder is removed afterwards. */
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
  await bundlePrograms('services')
  const folder = await temporaryFolder(releasers)
  const stateFolder = join(folder, 'state')
  const isFilled = options.version === undefined && (await fillState(stateFolder))
  const state = openState(stateFolder)
  const local = await localOf(options.version)
  if (options.version !== undefined) await local.prepareState(state)
  const certificate = await makeReceiverCertificate(state.tlsDir)
  const nats = await startNatsServers(folder, natsServers, () => natsAuthorization(state.secrets()))
  releasers.add('nats', nats.stop)
  const { natsUrl, natsUrls } = buildNatsUrls(nats.url, state.secrets().natsPasswords)
  const postgres = await startEmbeddedPostgres({
    dataDir: state.postgresDir,
    port: await freePort(),
    // Only clients of Postgres are killed, so no sync to disk is needed.
    flags: ['max_connections=400', 'fsync=off', 'full_page_writes=off'],
  })
  releasers.add('postgres', () => postgres.stop())
  const secrets = state.secrets()
  const migrate = () => provisionAll(postgres.url, secrets.databasePasswords, secrets.installation)
  const provision = isFilled ? buildDatabaseUrls : local.provisionAll
  const databaseUrls = await provision(postgres.url, secrets.databasePasswords, secrets.installation)
  if (options.pooler) {
    const pooler = await poolerOf(postgres.url, databaseUrls, releasers)
    for (const name of Object.keys(databaseUrls) as (keyof typeof databaseUrls)[]) {
      // The studio's connections are logins of tenants, which cannot use a transaction pooler.
      if (name !== 'database-studio') databaseUrls[name] = pooler.urlOf(new URL(databaseUrls[name]).username)
    }
  }
  const balancers = await balancersOf(services, releasers)
  const ports = mapNames(serviceNames, (name) => balancers.get(name)?.port ?? 1)
  const origin = `http://127.0.0.1:${ports.gateway}`
  const plan = planServices({
    ...{ secrets, databaseUrls, natsUrls, ports, origin, webhookCaFile: certificate.caFile },
    extra: { NATS_STREAM_REPLICAS: String(natsServers), DRAIN_DELAY_MS: '5000', ...options.extra },
  })

  const replicas: Partial<Record<ServiceName, Replica[]>> = {}
  for (const name of services) {
    replicas[name] = []
    for (let n = 0; n < count; n++) {
      const port = await freePort()
      const env = { ...plan[name], PORT: String(port), INSTANCE_ID: `${name}-${n}` }
      const logFile = join(state.root, `${name}-${n}.log`)
      const replica = replicaOf({ name, env, logFile, port, balancer: balancers.get(name) })
      releasers.add(`${name}-${n}`, () => replica.kill())
      replicas[name].push(replica)
    }
  }
  const backends = services.filter((name) => name !== 'gateway')
  for (const name of [...backends, 'gateway' as const])
    await Promise.all((replicas[name] ?? []).map((replica) => replica.rejoin(options.version)))
  const settingsUrl = `http://127.0.0.1:${ports.settings}`
  const owner = await local.bootstrapOwner({ secrets, settingsUrl, origin })
  return {
    info: {
      ...{ origin, baseUrl: `${origin}/api/v1`, ...owner, postgresUrl: postgres.url },
      ...{ natsUrl, pid: process.pid },
    },
    gateways: (replicas.gateway ?? []).map(({ url }) => url),
    replicas,
    nats: nats.servers,
    ...{ certificate, migrate },
    stop: () => releasers.release(),
  }
}

type Local = Pick<typeof import('@opsplane/local'), 'bootstrapOwner' | 'prepareState' | 'provisionAll'>

/** Functions that create the databases and the first workspace, of this version or of the one in a folder. */
const localOf = async (version: string | undefined): Promise<Local> =>
  version === undefined
    ? { bootstrapOwner, prepareState, provisionAll }
    : ((await import(join(version, 'deploy/local/dist/index.js'))) as Local)

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
  databaseUrls: Readonly<Record<string, string>>,
  releasers: Releasers,
): Promise<Pooler> {
  if (pgbouncer === undefined) throw new Error('there is no pgbouncer here')
  const users = Object.fromEntries(
    Object.values(databaseUrls).map((url) => [new URL(url).username, new URL(url).password]),
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

const root = fileURLToPath(new URL('../../..', import.meta.url))

function replicaOf(options: {
  name: ServiceName
  env: Record<string, string | undefined>
  logFile: string
  port: number
  balancer: Balancer | undefined
}): Replica {
  const { name, port, balancer } = options
  let code = root
  const bundle = () => join(code, relative(root, serviceBundle(name)))
  const process_ = serviceProcess({ ...options, bundle })
  return {
    ...process_,
    port,
    async retire(pauseMs = 0) {
      balancer?.remove(port)
      if (pauseMs > 0) await delay(pauseMs)
      return process_.stop()
    },
    async rejoin(version = root) {
      code = version
      await process_.start()
      balancer?.add(port)
    },
  }
}
