import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LocalSecrets } from './secrets.js'

export const serviceNames = ['settings', 'itsm', 'dispatcher', 'gateway'] as const
export type ServiceName = (typeof serviceNames)[number]
export type BackendName = Exclude<ServiceName, 'gateway'>
export const backendNames = serviceNames.filter((name): name is BackendName => name !== 'gateway')

export interface PlanOptions {
  secrets: LocalSecrets
  databaseUrls: Record<BackendName, string>
  natsUrl: string
  natsPrefix?: string
  ports: Record<ServiceName, number>
  origin: string
  /** PEM file of certificate authorities that webhook receivers may use beside the public ones. */
  webhookCaFile?: string
  /** Added to every service's environment; wins over what the plan says. */
  extra?: Record<string, string>
}

export type Environment = Record<string, string | undefined>

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** The file that runs a service as a process of its own. */
export const mainFile = (name: ServiceName) => join(repositoryRoot, 'services', name, 'dist', 'main.js')

/** The environment of every service: what a deployment sets by hand, worked out for one machine. */
export function planServices(options: PlanOptions): Record<ServiceName, Environment> {
  const { secrets, ports } = options
  const publicKeys = Object.fromEntries(
    Object.entries(secrets.serviceKeys).map(([name, pair]) => [name, pair.publicKey]),
  )
  const urlOf = (name: BackendName) => `http://127.0.0.1:${ports[name]}`
  const serviceUrls = JSON.stringify(Object.fromEntries(backendNames.map((name) => [name, urlOf(name)])))

  const base = (name: ServiceName): Environment => ({
    PORT: String(ports[name]),
    HOST: '127.0.0.1',
    NATS_URL: options.natsUrl,
    NATS_PREFIX: options.natsPrefix,
    INSTANCE_ID: 'local',
    SERVICE_URLS: serviceUrls,
    SERVICE_PRIVATE_KEY: secrets.serviceKeys[name].privateKey,
    TRUSTED_SERVICE_KEYS: JSON.stringify(publicKeys),
    ...inherited,
  })
  const backend = (name: BackendName): Environment => ({
    ...base(name),
    DATABASE_URL: options.databaseUrls[name],
    CURSOR_SECRET: secrets.cursorSecret,
  })
  const masterKeys = {
    OPSPLANE_MASTER_KEY: secrets.masterKey,
    OPSPLANE_PREVIOUS_MASTER_KEYS: secrets.previousMasterKeys.join(','),
  }
  return {
    settings: {
      ...backend('settings'),
      ...masterKeys,
      SMTP_URL: process.env.SMTP_URL,
      SMTP_FROM: process.env.SMTP_FROM,
      ...options.extra,
    },
    itsm: { ...backend('itsm'), ...options.extra },
    dispatcher: {
      ...backend('dispatcher'),
      ...masterKeys,
      // Receivers on this machine are what a local run is for: loopback is allowed, also without TLS.
      WEBHOOK_ALLOWED_CIDRS: process.env.WEBHOOK_ALLOWED_CIDRS ?? '127.0.0.0/8,::1/128',
      WEBHOOK_ALLOW_HTTP: process.env.WEBHOOK_ALLOW_HTTP ?? 'loopback',
      WEBHOOK_CA_FILE: options.webhookCaFile,
      ...options.extra,
    },
    gateway: {
      ...base('gateway'),
      PUBLIC_ORIGIN: options.origin,
      RATE_LIMIT_PER_MINUTE: process.env.RATE_LIMIT_PER_MINUTE,
      ...options.extra,
    },
  }
}

const inherited: Environment = { LOG_LEVEL: process.env.LOG_LEVEL }
