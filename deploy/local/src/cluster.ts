import { join } from 'node:path'
import { bundlePrograms } from '@opsplane/bundler'
import { type BackendName, backendNames, type ServiceName, serviceNames } from '@opsplane/contracts'
import type { InternalTls } from '@opsplane/http'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { createLogger, createReleasers, type Releasers } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { bootstrapOwner } from './bootstrap-owner.js'
import { makeInternalCertificate, makeReceiverCertificate, type ReceiverCertificate } from './certificate.js'
import { mapNames } from './map-names.js'
import { finishMasterKeyRotation } from './master-key.js'
import { buildNatsUrls, natsAuthorization } from './nats-users.js'
import { buildDatabaseUrls, provisionAll } from './platform.js'
import { choosePorts } from './ports.js'
import type { LocalSecrets } from './secrets.js'
import { type Environment, planServices } from './service-plan.js'
import type { Origins } from './start/origins.js'
import type { LocalInfo, LocalState } from './state.js'
import { type ServiceProcess, serviceProcess } from './supervisor.js'

export interface ClusterOptions {
  state: LocalState
  /** The databases of the state are already created and migrated: see `prepareState`. */
  prepared?: boolean
  /** Additional `-c name=value` settings of Postgres. */
  postgresFlags?: string[]
  /** Added to every service's environment. */
  extra?: Record<string, string>
  /** Services to start in addition to settings and the gateway, for tests that need no others; defaults to all. */
  services?: readonly BackendName[]
  /** Ports of the services; defaults to free ones. */
  ports?: Record<ServiceName, number>
  /** Public origins; defaults to 127.0.0.1, with apps at the same origin. */
  origins?: Pick<Origins, 'public' | 'apps'>
  /** Services call each other over mutual TLS, with a certificate created for it. */
  tls?: boolean
  /** Services expose their metrics. */
  metrics?: boolean
}

/** A server that can be killed and restarted on the same port and data. */
export interface RestartableServer {
  pid(): number
  start(): Promise<void>
  stop(): Promise<void>
  /** Sends SIGKILL; resolves once the process has ended. */
  kill(): Promise<void>
}

/** The platform as separate processes, each of which can be killed: for crash tests and measurements. */
export interface Cluster {
  info: LocalInfo
  /** Includes the keys that sign internal tokens. */
  secrets: LocalSecrets
  services: Record<ServiceName, ServiceProcess>
  /** Starts another process of a service on its own port; `environment` overrides that of the first one. */
  replica(name: ServiceName, environment?: Environment): Promise<ServiceProcess>
  postgres: RestartableServer
  nats: RestartableServer
  certificate: ReceiverCertificate
  /** Metrics URL of each service; `undefined` unless `metrics` is set. */
  metricsUrls: Record<ServiceName, string> | undefined
  /** TLS settings by which the services authenticate each other; `undefined` unless `tls` is set. */
  tls: InternalTls | undefined
  stop(): Promise<void>
}

/** Starts everything; stops what was already started if something fails to start. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const releasers = createReleasers(createLogger({ service: 'cluster', level: 'silent' }))
  try {
    return await start(options, releasers)
  } catch (error) {
    await releasers.release().catch(() => {})
    throw error
  }
}

async function start(options: ClusterOptions, releasers: Releasers): Promise<Cluster> {
  const { state } = options
  await bundlePrograms('services')
  const certificate = await makeReceiverCertificate(state.tlsDir)
  const { databasePasswords, natsPasswords, installation } = state.secrets()
  const { postgres, postgresUrl, nats, url } = await startServers(options, releasers)
  const { natsUrl, natsUrls } = buildNatsUrls(url, natsPasswords)

  const databaseUrls = await (options.prepared ? buildDatabaseUrls : provisionAll)(
    postgresUrl,
    databasePasswords,
    installation,
  )
  const secrets = await finishMasterKeyRotation(state, postgresUrl)
  const ports = options.ports ?? (await choosePorts())
  const metricsPorts = options.metrics ? await choosePorts() : undefined
  const gatewayUrl = `http://127.0.0.1:${ports.gateway}`
  const { public: origin, apps: appsOrigin } = options.origins ?? { public: gatewayUrl, apps: undefined }
  const internalCertificate = options.tls ? await makeInternalCertificate(state.tlsDir) : undefined
  const tls = internalCertificate && {
    ...{
      cert: internalCertificate.cert,
      key: internalCertificate.key,
      ca: internalCertificate.cert,
      mutual: true,
    },
  }
  /** The gateway is called by clients. */
  const tlsOf = (name: ServiceName) => (name === 'gateway' ? undefined : tls)
  const plan = planServices({
    internalCertificate,
    secrets,
    databaseUrls,
    natsUrls,
    ports,
    metricsPorts,
    origin,
    appsOrigin,
    webhookCaFile: certificate.caFile,
    ...(options.extra ? { extra: options.extra } : {}),
  })
  const processOf = (name: ServiceName) =>
    serviceProcess({
      ...{ name, env: plan[name], tls: tlsOf(name), logFile: join(state.root, `${name}.log`) },
    })
  const services = mapNames(serviceNames, processOf)
  // Registered first: a process that never becomes healthy must be ended as well.
  for (const name of serviceNames) releasers.add(name, async () => void (await services[name].stop()))
  const started = new Set<BackendName>(['settings', ...(options.services ?? backendNames)])
  await Promise.all([...started].map((name) => services[name].start()))
  await services.gateway.start()
  const owner = await bootstrapOwner({
    secrets,
    settingsUrl: services.settings.url,
    tls,
    origin: gatewayUrl,
  })
  state.saveSecrets({ ...state.secrets(), owner })
  const replica = async (name: ServiceName, environment: Environment = {}) => {
    const port = await freePort()
    const env = { ...plan[name], PORT: String(port), INSTANCE_ID: `replica-${port}`, ...environment }
    const replica = serviceProcess({
      ...{ name, env, tls: tlsOf(name), logFile: join(state.root, `${name}-${port}.log`) },
    })
    releasers.add(`${name} on ${port}`, async () => void (await replica.stop()))
    await replica.start()
    return replica
  }
  const info = { origin, baseUrl: `${origin}/api/v1`, ...owner, postgresUrl, natsUrl, pid: process.pid }
  return {
    info,
    secrets,
    services,
    replica,
    postgres,
    nats,
    certificate,
    metricsUrls:
      metricsPorts && mapNames(serviceNames, (name) => `http://127.0.0.1:${metricsPorts[name]}/metrics`),
    tls,
    stop: () => releasers.release(),
  }
}

async function startServers({ state, postgresFlags: flags }: ClusterOptions, releasers: Releasers) {
  const [postgresPort, natsPort] = [await freePort(), await freePort()]
  const startPostgres = () =>
    startEmbeddedPostgres({ dataDir: state.postgresDir, port: postgresPort, ...(flags ? { flags } : {}) })
  const firstPostgres = await startPostgres()
  const postgres = restartable(firstPostgres, startPostgres)
  releasers.add('postgres', () => postgres.stop())
  const authorization = () => natsAuthorization(state.secrets())
  const startNats = () => startEmbeddedNats({ storeDir: state.natsDir, port: natsPort, authorization })
  const firstNats = await startNats()
  const nats = restartable(firstNats, startNats)
  releasers.add('nats', () => nats.stop())
  return { postgres, postgresUrl: firstPostgres.url, nats, url: firstNats.url }
}

interface StartedServer {
  pid: number
  exited: Promise<string>
  stop(): Promise<void>
}

function restartable(first: StartedServer, start: () => Promise<StartedServer>): RestartableServer {
  let current = first
  return {
    pid: () => current.pid,
    start: async () => {
      current = await start()
    },
    stop: () => current.stop(),
    kill: async () => {
      process.kill(current.pid, 'SIGKILL')
      await current.exited
    },
  }
}
