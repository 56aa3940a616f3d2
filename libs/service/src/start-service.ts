import { internalEventRoutes } from '@opsplane/eventstore'
import {
  createApp,
  createInternalVerifier,
  listen,
  measureCertificates,
  type Route,
  routeTableRoute,
} from '@opsplane/http'
import {
  answerToPostgresError,
  asciiLocaleWarning,
  connectionShortage,
  hasUnicodeLocale,
  isPooled,
  readConnectionCapacity,
  shortageRemedy,
} from '@opsplane/postgres'
import { type BackendConfig, createLogger, createReleasers, type RunningService } from '@opsplane/runtime'
import { openTelemetry } from '@opsplane/telemetry'
import { openContext, type ServiceContext, type ServiceOverrides } from './context.js'
import { operationsRoutes } from './operations/routes.js'
import { createReadiness, refuseForeignDatabase } from './own-database.js'
import { countConnections, type ServiceDefinition } from './service-definition.js'

interface StartedDefinition<Config extends BackendConfig, Overrides extends ServiceOverrides>
  extends ServiceDefinition<Config, Overrides> {
  schema: string
  paths: readonly string[]
}

/**
 * Opens the service's parts, then accepts requests. NATS and Postgres may be unavailable, at the start
 * and later. Stops in the opposite order: intake first, the database last. Throws InstallationError if
 * the database belongs to another installation.
 */
export async function startService<Config extends BackendConfig, Overrides extends ServiceOverrides>(
  definition: StartedDefinition<Config, Overrides>,
  config: Config,
  // All overrides are optional.
  overrides = {} as Overrides,
): Promise<RunningService> {
  const { name, schema, paths } = definition
  const log =
    overrides.log ?? createLogger({ service: name, level: config.logLevel, tenantData: config.logTenantData })
  const releasers = createReleasers(log)
  try {
    await refuseForeignDatabase(config, schema, log)
    const telemetry = await openTelemetry(name, config)
    releasers.add('telemetry', () => telemetry.close())
    const { metrics, tracing } = telemetry
    const ctx = openContext({ name, schema, config, overrides, log, metrics, tracing, releasers })
    measureCertificates(metrics, ctx.tls)
    const { routes, background = [], onDrain } = await definition.setup(ctx, overrides)
    for (const [n, work] of background.entries()) releasers.add(`background work ${n}`, () => work.close())
    // Closed before the parts it uses; if the start fails earlier, the context closes it.
    releasers.add('due work', () => ctx.dueWork.close())
    refuseForeignPaths(name, paths, routes)
    const app = createApp({
      service: name,
      routes: [
        ...routes,
        routeTableRoute(routes),
        ...internalEventRoutes(ctx.database),
        ...operationsRoutes(ctx.operations),
      ],
      verifier: createInternalVerifier({ service: name, trustedKeys: config.trustedServiceKeys }),
      idempotency: ctx.store.idempotency,
      log,
      clock: ctx.clock,
      metrics,
      tracing,
      readiness: createReadiness(ctx.database, config),
      translateError: answerToPostgresError,
    })
    const { port, host, drainDelayMs } = config
    const place = { port, host, drainDelayMs }
    const listening = await listen(app, { ...place, log, tls: ctx.tls, ...(onDrain && { onDrain }) })
    releasers.add('http', () => listening.close())
    const metricsUrl = await telemetry.serve()
    log.info({ port: listening.port }, 'listening')
    if (definition.searchesTexts) void warnOfAsciiOnly(ctx)
    if (!isPooled(config.databaseUrl)) void warnOfShortage(ctx, countConnections(definition, config))
    return {
      name,
      port: listening.port,
      url: `${ctx.tls ? 'https' : 'http'}://${host}:${listening.port}`,
      metricsUrl,
      stop: () => releasers.release(),
    }
  } catch (error) {
    await releasers.release().catch(() => {})
    throw error
  }
}

/** The gateway would route no requests to such a path. */
function refuseForeignPaths(name: string, paths: readonly string[], routes: readonly Route[]): void {
  const own = ['internal', ...paths]
  for (const { operationId, path } of routes) {
    if (!own.some((start) => `${path}/`.startsWith(`/${start}/`)))
      throw new Error(`${operationId}: ${path} is not among the paths of ${name}`)
  }
}

/** Runs in the background: if Postgres is unavailable at the start, requests report it. */
async function warnOfAsciiOnly({ database, log }: ServiceContext): Promise<void> {
  const knows = await hasUnicodeLocale(database.sql).catch(() => true)
  if (!knows) log.warn(asciiLocaleWarning)
}

/** Warns if Postgres has too few free connections: the shortage would fail unrelated requests under load. */
async function warnOfShortage(ctx: ServiceContext, requiredConnections: number): Promise<void> {
  const { database, log } = ctx
  const room = await readConnectionCapacity(database.sql).catch(() => undefined)
  const shortage = room && connectionShortage(requiredConnections, room)
  if (shortage) log.warn({ ...room, wanted: requiredConnections }, `${shortage} ${shortageRemedy}.`)
}
