import {
  type BackendName,
  backendNames,
  type ServiceName,
  serviceNames,
  serviceRegistry,
} from '@opsplane/contracts'
import type { InternalCertificate } from './certificate.js'
import { eachOf } from './each-of.js'
import type { LocalSecrets } from './secrets.js'

export interface PlanOptions {
  secrets: LocalSecrets
  databaseUrls: Record<BackendName, string>
  /** With the user of each service, where the server has users. */
  natsUrls: Record<ServiceName, string>
  natsPrefix?: string
  ports: Record<ServiceName, number>
  /** Where each service shows its metrics; nowhere unless given. */
  metricsPorts?: Record<ServiceName, number> | undefined
  origin: string
  /** With it services call each other with https, and show who they are. */
  internalCertificate?: InternalCertificate | undefined
  /** PEM file of certificate authorities that webhook receivers may use beside the public ones. */
  webhookCaFile?: string
  /** Added to every service's environment; wins over what the plan says. */
  extra?: Record<string, string>
}

export type Environment = Record<string, string | undefined>

/** The environment of every service: what a deployment sets by hand, worked out for one machine. */
export function planServices(options: PlanOptions): Record<ServiceName, Environment> {
  const { internalCertificate } = options
  const common = {
    INTERNAL_TLS_CERT_FILE: internalCertificate?.caFile,
    INTERNAL_TLS_KEY_FILE: internalCertificate?.keyFile,
    INTERNAL_TLS_CA_FILE: internalCertificate?.caFile,
    INTERNAL_TLS_MUTUAL: internalCertificate && 'true',
    HOST: '127.0.0.1',
    INSTALLATION_ID: options.secrets.installation.id,
    NATS_PREFIX: options.natsPrefix,
    INSTANCE_ID: 'local',
    SERVICE_URLS: JSON.stringify(
      eachOf(
        backendNames,
        (name) => `${internalCertificate ? 'https' : 'http'}://127.0.0.1:${options.ports[name]}`,
      ),
    ),
    TRUSTED_SERVICE_KEYS: JSON.stringify(
      Object.fromEntries(
        Object.entries(options.secrets.serviceKeys).map(([party, pair]) => [party, pair.publicKey]),
      ),
    ),
    LOG_LEVEL: process.env.LOG_LEVEL,
  }
  const own = ownVariables(options)
  return eachOf(serviceNames, (name) => ({
    ...common,
    PORT: String(options.ports[name]),
    ...(options.metricsPorts && { METRICS_PORT: String(options.metricsPorts[name]) }),
    NATS_URL: options.natsUrls[name],
    SERVICE_PRIVATE_KEY: options.secrets.serviceKeys[name]?.privateKey,
    ...(isBackend(name) && {
      DATABASE_URL: options.databaseUrls[name],
      CURSOR_SECRET: options.secrets.cursorSecret,
    }),
    ...own[name],
    ...options.extra,
  }))
}

/** What only one service or another needs. */
function ownVariables({
  secrets,
  origin,
  webhookCaFile,
}: PlanOptions): Partial<Record<ServiceName, Environment>> {
  const masterKeys = {
    OPSPLANE_MASTER_KEY: secrets.masterKey,
    OPSPLANE_PREVIOUS_MASTER_KEYS: secrets.previousMasterKeys.join(','),
  }
  const { env } = process
  return {
    settings: {
      ...masterKeys,
      AUDIT_SIGNING_KEY: secrets.auditSigningKey,
      SMTP_URL: env.SMTP_URL,
      SMTP_FROM: env.SMTP_FROM,
    },
    itsm: {
      EMBEDDINGS_URL: env.EMBEDDINGS_URL,
      EMBEDDINGS_MODEL: env.EMBEDDINGS_MODEL,
      EMBEDDINGS_API_KEY: env.EMBEDDINGS_API_KEY,
      EMBEDDINGS_ALLOWED_CIDRS: env.EMBEDDINGS_ALLOWED_CIDRS,
    },
    dispatcher: {
      ...masterKeys,
      // Receivers on this machine are what a local run is for: loopback is allowed, also without TLS.
      WEBHOOK_ALLOWED_CIDRS: env.WEBHOOK_ALLOWED_CIDRS ?? '127.0.0.0/8,::1/128',
      WEBHOOK_ALLOW_HTTP: env.WEBHOOK_ALLOW_HTTP ?? 'loopback',
      WEBHOOK_CA_FILE: webhookCaFile,
    },
    integrations: {
      // As for webhooks: what runs on this machine is what a local run connects.
      CONNECTOR_ALLOWED_CIDRS: env.CONNECTOR_ALLOWED_CIDRS ?? '127.0.0.0/8,::1/128',
      CONNECTOR_ALLOW_HTTP: env.CONNECTOR_ALLOW_HTTP ?? 'loopback',
      CONNECTOR_CA_FILE: webhookCaFile,
    },
    workflows: {
      // As for webhooks.
      WORKFLOW_ALLOWED_CIDRS: env.WORKFLOW_ALLOWED_CIDRS ?? '127.0.0.0/8,::1/128',
      WORKFLOW_ALLOW_HTTP: env.WORKFLOW_ALLOW_HTTP ?? 'loopback',
      WORKFLOW_CA_FILE: webhookCaFile,
    },
    sdk: {
      ...masterKeys,
      // As for webhooks.
      SDK_ALLOWED_CIDRS: env.SDK_ALLOWED_CIDRS ?? '127.0.0.0/8,::1/128',
      SDK_ALLOW_HTTP: env.SDK_ALLOW_HTTP ?? 'loopback',
    },
    analytics: { PUBLIC_ORIGIN: origin },
    gateway: {
      PUBLIC_ORIGIN: origin,
      APPS_ORIGIN: env.APPS_ORIGIN,
      RATE_LIMIT_PER_MINUTE: env.RATE_LIMIT_PER_MINUTE,
    },
  }
}

const isBackend = (name: ServiceName): name is BackendName => serviceRegistry[name].database
