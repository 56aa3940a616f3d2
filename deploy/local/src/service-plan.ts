import {
  type BackendName,
  backendNames,
  type ServiceName,
  serviceNames,
  serviceRegistry,
} from '@opsplane/contracts'
import type { InternalCertificate } from './certificate.js'
import { mapNames } from './map-names.js'
import type { LocalSecrets } from './secrets.js'
import { serviceVariables } from './start/variables.js'

export interface PlanOptions {
  secrets: LocalSecrets
  databaseUrls: Record<BackendName, string>
  /** NATS URL of each service, with its user if the server has users. */
  natsUrls: Record<ServiceName, string>
  natsPrefix?: string | undefined
  ports: Record<ServiceName, number>
  /** Metrics port of each service; metrics are not exposed if absent. */
  metricsPorts?: Record<ServiceName, number> | undefined
  origin: string
  /** Origin of apps, unless the operator sets one. */
  appsOrigin?: string | undefined
  /** Services call each other with https and authenticate with this certificate. */
  internalCertificate?: InternalCertificate | undefined
  /** PEM file of certificate authorities that webhook receivers may use in addition to the public ones. */
  webhookCaFile?: string
  /** Variables set by the operator; defaults to this process's environment. */
  environment?: Environment
  /** Added to every service's environment; overrides the plan. */
  extra?: Record<string, string>
}

export type Environment = Record<string, string | undefined>

/**
 * The environment of every service: the variables a deployment sets by hand, computed for one machine. A service
 * gets each variable that it reads from the operator's environment, except for those the plan itself sets; an empty
 * one counts as absent.
 */
export function planServices(options: PlanOptions): Record<ServiceName, Environment> {
  const { environment = process.env, extra } = options
  const read = serviceVariables()
  const set = Object.entries(environment).filter(([, value]) => value)
  return mapNames(serviceNames, (name) => {
    const all: Environment = {
      ...usual(options),
      ...Object.fromEntries(set),
      ...buildPlannedEnvironment(options, name),
    }
    return { ...Object.fromEntries(read[name].map((variable) => [variable, all[variable]])), ...extra }
  })
}

/** Defaults of a local run unless the operator sets something else. */
function usual({ appsOrigin, secrets, webhookCaFile }: PlanOptions): Environment {
  const outbound = ['WEBHOOK', 'CONNECTOR', 'WORKFLOW', 'SDK', 'SSO'].flatMap((prefix) => [
    // A local run targets programs on the same machine: loopback is allowed, also without TLS.
    [`${prefix}_ALLOWED_CIDRS`, '127.0.0.0/8,::1/128'],
    [`${prefix}_ALLOW_HTTP`, 'loopback'],
    [`${prefix}_CA_FILE`, webhookCaFile],
  ])
  return {
    INSTANCE_ID: 'local',
    APPS_ORIGIN: appsOrigin,
    OPERATORS: secrets.owner.email,
    ...Object.fromEntries(outbound),
  }
}

/** Variables of the plan that the operator cannot override. */
export function buildPlannedEnvironment(options: PlanOptions, name: ServiceName): Environment {
  const { internalCertificate, metricsPorts, origin, ports, secrets } = options
  const scheme = internalCertificate ? 'https' : 'http'
  const urls = mapNames(backendNames, (backend) => `${scheme}://127.0.0.1:${ports[backend]}`)
  const publicKeys = Object.entries(secrets.serviceKeys).map(([party, pair]) => [party, pair.publicKey])
  return {
    INTERNAL_TLS_CERT_FILE: internalCertificate?.caFile,
    INTERNAL_TLS_KEY_FILE: internalCertificate?.keyFile,
    INTERNAL_TLS_CA_FILE: internalCertificate?.caFile,
    INTERNAL_TLS_MUTUAL: internalCertificate && 'true',
    INSTALLATION_ID: secrets.installation.id,
    PORT: String(ports[name]),
    METRICS_PORT: metricsPorts && String(metricsPorts[name]),
    PUBLIC_ORIGIN: origin,
    NATS_URL: options.natsUrls[name],
    NATS_PREFIX: options.natsPrefix,
    SERVICE_URLS: JSON.stringify(urls),
    SERVICE_PRIVATE_KEY: secrets.serviceKeys[name]?.privateKey,
    PREVIOUS_SERVICE_PRIVATE_KEYS: undefined,
    TRUSTED_SERVICE_KEYS: JSON.stringify(Object.fromEntries(publicKeys)),
    CURSOR_SECRET: secrets.cursorSecret,
    OPSPLANE_MASTER_KEY: secrets.masterKey,
    OPSPLANE_PREVIOUS_MASTER_KEYS: secrets.previousMasterKeys.join(','),
    AUDIT_SIGNING_KEY: secrets.auditSigningKey,
    // Clients call only the gateway.
    ...(isBackend(name) && { HOST: '127.0.0.1', DATABASE_URL: options.databaseUrls[name] }),
  }
}

const isBackend = (name: ServiceName): name is BackendName => serviceRegistry[name].database
