import { mkdirSync } from 'node:fs'
import { type BackendName, backendNames, type ServiceName, serviceNames } from '@opsplane/contracts'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import {
  asciiLocaleWarning,
  claimInstallation,
  formatRole,
  hasUnicodeLocale,
  type Installation,
  urlAs,
} from '@opsplane/postgres'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { createReleasers, type Logger, type Releasers } from '@opsplane/runtime'
import { bootstrapOwner } from './bootstrap-owner.js'
import { databaseIn, makeDataDatabase, withAdmin } from './data-database.js'
import { keepServer } from './kept-server.js'
import { mapNames } from './map-names.js'
import { finishMasterKeyRotation } from './master-key.js'
import { buildNatsUrls, natsAuthorization } from './nats-users.js'
import { choosePorts, LocalRunError, metricsPortsFrom } from './ports.js'
import { planServices } from './service-plan.js'
import { backends, services } from './services.js'
import { requireConnections } from './start/connections.js'
import { requireNats, requirePostgres } from './start/external-servers.js'
import { buildOrigins } from './start/origins.js'
import { unreadVariables } from './start/variables.js'
import type { LocalInfo, LocalState } from './state.js'

export interface PlatformOptions {
  state: LocalState
  /** Logger of a service, or of the local run itself. */
  logFor: (service: string) => Logger
  /** The gateway's port; a free one if absent. */
  port?: number | undefined
  webhookCaFile?: string
  /** Called when a step begins. */
  onStep?: (step: string) => void
  /** Called when Postgres or NATS ends unexpectedly, and when it is back. */
  onServerEnd?: (text: string) => void
}

export interface Platform {
  info: LocalInfo
  /** Limitations of this run, and how to remove them. */
  notices: string[]
  stop(): Promise<void>
}

/** Starts everything in this process: Postgres and NATS (unless given by URL), migrations, services, first owner. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { state, logFor, onStep = () => {}, onServerEnd = () => {} } = options
  const log = logFor('local')
  const running = state.running()
  if (running) {
    throw new LocalRunError(
      `Opsplane already runs here: ${running.origin} (process ${running.pid}). Stop it first, or use another OPSPLANE_HOME.`,
    )
  }
  const ports = await choosePorts(options.port, state.lastPort())
  const metricsPorts = metricsPortsFrom(process.env.METRICS_PORT)
  const releasers = createReleasers(log)
  try {
    const { databasePasswords, natsPasswords, installation } = state.secrets()
    const servers = await startServers({ state, log, releasers, onStep, natsPasswords, tell: onServerEnd })
    onStep('migrating the databases')
    const databaseUrls = await provisionAll(servers.info.postgresUrl, databasePasswords, installation)
    const notices = [...unreadVariables(process.env), ...(await noticesOf(servers.info.postgresUrl))]
    const secrets = await finishMasterKeyRotation(state, servers.info.postgresUrl)

    onStep('starting the services')
    const origins = buildOrigins(ports.gateway)
    const plan = planServices({
      secrets,
      databaseUrls,
      natsUrls: servers.natsUrls,
      natsPrefix: process.env.NATS_PREFIX,
      ports,
      metricsPorts,
      origin: origins.public,
      appsOrigin: origins.apps,
      ...(options.webhookCaFile ? { webhookCaFile: options.webhookCaFile } : {}),
    })
    const adminUrls = new Set(
      backendNames.map((name) => databaseIn(installation, name, servers.info.postgresUrl)),
    )
    await requireConnections(plan, [...adminUrls])
    const start = (name: ServiceName) =>
      services[name].start(services[name].loadConfig(plan[name]), { log: logFor(name) })
    // Separate processes would also start concurrently; the gateway accepts requests when all are up.
    const backendsStarted = await Promise.allSettled(backendNames.map(start))
    for (const [n, started] of backendsStarted.entries())
      if (started.status === 'fulfilled') releasers.add(backendNames[n] ?? '', () => started.value.stop())
    requireAll(backendsStarted)
    const gateway = await start('gateway')
    releasers.add('gateway', () => gateway.stop())

    onStep('preparing the workspace')
    const owner = await bootstrapOwner({
      secrets,
      settingsUrl: `http://127.0.0.1:${ports.settings}`,
      origin: origins.gateway,
    })
    // Read again: a new master key may have been stored meanwhile.
    state.saveSecrets({ ...state.secrets(), owner })
    const info: LocalInfo = {
      origin: origins.public,
      baseUrl: `${origins.public}/api/v1`,
      ...owner,
      ...servers.info,
      pid: process.pid,
    }
    state.writeInfo(info)
    state.keepPort(ports.gateway)
    releasers.add('local.json', () => state.removeInfo())
    return { info, notices, stop: () => releasers.release() }
  } catch (error) {
    await releasers.release().catch(() => {})
    throw error
  }
}

/** Throws the first failure, after all starts have settled, so that nothing is still starting. */
function requireAll(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

interface ServersOptions {
  state: LocalState
  log: Logger
  releasers: Releasers
  natsPasswords: Readonly<Record<string, string>>
  onStep: (step: string) => void
  tell: (text: string) => void
}

/** The NATS URL in messages is the operator's. */
async function startServers(options: ServersOptions) {
  const [postgres, nats] = [startPostgres(options), startNats(options)]
  requireAll(await Promise.allSettled([postgres, nats]))
  const [postgresUrl, { natsUrl, natsUrls }] = [await postgres, await nats]
  return { info: { postgresUrl, natsUrl }, natsUrls }
}

const toLog =
  ({ log }: ServersOptions, component: string) =>
  (line: string) =>
    log.debug({ component }, line)

async function startPostgres(options: ServersOptions): Promise<string> {
  const { state, log, releasers, onStep, tell } = options
  const external = process.env.DATABASE_URL
  if (external) {
    await requirePostgres(external)
    return external
  }
  onStep('starting Postgres')
  mkdirSync(state.postgresDir, { recursive: true })
  const start = (port?: number) =>
    startEmbeddedPostgres({ dataDir: state.postgresDir, port, onLog: toLog(options, 'postgres') })
  const { url, stop } = await keepServer({ name: 'Postgres', start, log, tell })
  releasers.add('postgres', stop)
  return url
}

async function startNats(options: ServersOptions) {
  const { state, log, releasers, onStep, natsPasswords, tell } = options
  const external = process.env.NATS_URL
  if (external) {
    await requireNats(external)
    return { natsUrl: external, natsUrls: mapNames(serviceNames, () => external) }
  }
  onStep('starting NATS')
  const authorization = () => natsAuthorization(state.secrets(), process.env.NATS_PREFIX)
  const start = (port?: number) =>
    startEmbeddedNats({ storeDir: state.natsDir, port, authorization, onLog: toLog(options, 'nats') })
  const { url, stop } = await keepServer({ name: 'NATS', start, log, tell })
  releasers.add('nats', stop)
  return buildNatsUrls(url, natsPasswords)
}

const noticesOf = (postgresUrl: string): Promise<string[]> =>
  withAdmin(postgresUrl, async (sql) => ((await hasUnicodeLocale(sql)) ? [] : [asciiLocaleWarning]))

/**
 * Brings every service's schema up to date; returns the URL each service connects with. `requestedInstallation` is the installation
 * that starts; the names follow the installation recorded in the database. Throws InstallationError before anything
 * is changed if a database belongs to another installation or is a copy.
 */
export async function provisionAll(
  adminUrl: string,
  passwords: Record<string, string>,
  requestedInstallation?: Installation,
): Promise<Record<BackendName, string>> {
  const installation = await claimInstallation(adminUrl, requestedInstallation)
  await makeDataDatabase(adminUrl, installation)
  const urls = mapNames(backendNames, () => '')
  for (const name of backendNames)
    urls[name] = await backends[name].provision({
      adminUrl: databaseIn(installation, name, adminUrl),
      password: passwords[name] ?? '',
      installation,
    })
  return urls
}

/** The same URLs, for schemas that are already up to date. */
export const buildDatabaseUrls = (
  adminUrl: string,
  passwords: Record<string, string>,
  installation: Installation,
): Record<BackendName, string> =>
  mapNames(backendNames, (name) =>
    urlAs(
      databaseIn(installation, name, adminUrl),
      formatRole(installation, backends[name].schema),
      passwords[name] ?? '',
    ),
  )
