import { resolve } from 'node:path'
import { durableConsumers, type NatsNames, natsNames, type ServiceName } from '@opsplane/contracts'
import { DetachedMonthsError } from '@opsplane/eventstore'
import { connectNats, createEventSignatures, type EventSignatures, type NatsLink } from '@opsplane/nats'
import { databaseFault, InstallationError, isDatabaseUnavailable } from '@opsplane/postgres'
import { createLogger, delay, derivePublicKey, stringMap } from '@opsplane/runtime'
import { LocalRunError } from './ports.js'
import { keptKeys, runningPlatform } from './state.js'

/** Options by which the operator selects an installation. */
export interface TargetOptions {
  home: string
  databaseUrl?: string
  natsUrl?: string
  natsPrefix?: string
  /** URL of the API. */
  url?: string
}

/** Reason a task on the servers failed: they are not named, do not answer, or refuse. */
export class OpsError extends LocalRunError {
  constructor(
    readonly reason: 'unnamed' | 'away' | 'refused',
    message: string,
  ) {
    super(message)
  }
}

/** The servers of one installation. */
export interface Target {
  /** URL with a role that owns the services' tables. Throws OpsError if it is not configured. */
  databaseUrl(): string
  nats(): { url: string; names: NatsNames }
  /** Origin of the gateway; `undefined` if it is not configured. */
  origin: string | undefined
  /** Signer of a service's events. Throws OpsError if its key is not configured. */
  signatures(service: ServiceName): EventSignatures
}

/** Options override the environment, which overrides the platform running from `home`. */
export function findTarget(options: TargetOptions, env: Record<string, string | undefined>): Target {
  const local = runningPlatform(options.home)
  const found = (optionName: string, url: string | undefined) => {
    if (url) return url
    throw new OpsError(
      'unnamed',
      `No platform runs from ${resolve(options.home)}, and ${optionName} is not given.\n` +
        'Start it with npm start, name its folder with --home or OPSPLANE_HOME, or name its servers with ' +
        '--database-url and --nats-url (DATABASE_URL, NATS_URL).',
    )
  }
  const isLocal = !options.databaseUrl && !env.DATABASE_URL
  const api = options.url ?? (env.OPSPLANE_URL || (isLocal ? local?.origin : undefined))
  return {
    origin: api !== undefined && URL.canParse(api) ? new URL(api).origin : undefined,
    databaseUrl: () =>
      found('--database-url', options.databaseUrl ?? (env.DATABASE_URL || local?.postgresUrl)),
    nats() {
      const natsUrl = options.natsUrl ?? (env.NATS_URL || undefined)
      // A local run has no prefix, whatever is set in the shell.
      const prefix = options.natsPrefix ?? (natsUrl === undefined ? undefined : env.NATS_PREFIX || undefined)
      return { url: found('--nats-url', natsUrl ?? local?.natsUrl), names: natsNames(prefix) }
    },
    signatures: (service) => signaturesOf(service, options.home, env),
  }
}

/** The service's environment overrides the keys of the local run. */
function signaturesOf(service: ServiceName, home: string, env: Record<string, string | undefined>) {
  const keys = env.SERVICE_PRIVATE_KEY
    ? { privateKey: env.SERVICE_PRIVATE_KEY, trustedKeys: stringMap.parse(env.TRUSTED_SERVICE_KEYS ?? '{}') }
    : keptKeys(service, home)
  const isOwn =
    keys && (keys.trustedKeys[service] ?? '').split(',').includes(derivePublicKey(keys.privateKey))
  if (!isOwn) {
    throw new OpsError(
      'unnamed',
      `Events are signed by their service: the key of ${service} is neither in ${resolve(home)} nor in ` +
        'SERVICE_PRIVATE_KEY, with TRUSTED_SERVICE_KEYS, as the service itself has them.',
    )
  }
  return createEventSignatures({ service, ...keys, verifiers: Object.keys(durableConsumers) })
}

/** Connects for the duration of `work`. Throws OpsError if the server does not answer in time. */
export async function withNats<T>(url: string, work: (link: NatsLink) => Promise<T>): Promise<T> {
  const log = createLogger({ service: 'ops', level: 'silent' })
  const link = connectNats({ url, name: 'opsplane-ops', log })
  const waited = new AbortController()
  try {
    await Promise.race([link.ready(), delay(connectTimeoutMs, waited.signal)])
    waited.abort()
    if (!link.connected()) {
      throw new OpsError(
        'away',
        `NATS at ${placeOf(url)} does not answer. Check that it runs and that --nats-url (NATS_URL) is right.`,
      )
    }
    return await work(link)
  } finally {
    await link.close()
  }
}

export const connectTimeoutMs = 10_000

/** Explains a Postgres error to the operator; returns any other error unchanged. */
export function explainDatabaseError(error: unknown, databaseUrl: string): unknown {
  if (error instanceof DetachedMonthsError || error instanceof InstallationError)
    return new OpsError('refused', error.message)
  const place = placeOf(databaseUrl)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === '25006') {
    return new OpsError(
      'away',
      `Postgres at ${place} takes no writes: it still recovers, or is a standby. Wait until it is promoted, and try again.`,
    )
  }
  if (code === '42P01' || code === '3F000') {
    return new OpsError(
      'refused',
      `${place} has not been set up: npm start makes the tables. (${String(error)})`,
    )
  }
  if (code === '42501' || code === '28P01' || code === '28000' || code === '3D000') {
    return new OpsError(
      'refused',
      `${place} refuses: ${String(error)}\nName a superuser, or the owner of the tables, in --database-url.`,
    )
  }
  if (isDatabaseUnavailable(error)) {
    return new OpsError(
      'away',
      databaseFault(error) === databaseFault(undefined)
        ? `Postgres at ${place} does not answer. Check that it runs and that --database-url (DATABASE_URL) is right.`
        : `Postgres at ${place} ${databaseFault(error)}. (${String(error)})`,
    )
  }
  return error
}

/** The URL without secrets. */
function placeOf(url: string): string {
  if (!URL.canParse(url))
    throw new OpsError('unnamed', 'The URL of a server reads like postgres://user@host:5432/name.')
  const { host, pathname } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname}`
}
