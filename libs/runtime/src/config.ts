import { hostname } from 'node:os'
import { z } from 'zod'
import { LimitValues } from './quota/limits.js'
import { isMasterKey } from './sealing.js'

/** The configuration of a process is invalid; the message lists every invalid variable with its problem. */
export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

const envName = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()

/**
 * Reads a config object from environment variables: the key `natsUrl` comes from `NATS_URL`.
 * An empty variable counts as absent. Throws a ConfigError that names every invalid variable.
 */
export function parseConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Record<string, string | undefined>,
): z.infer<z.ZodObject<Shape>> {
  const values: Record<string, string> = {}
  for (const key of Object.keys(schema.shape)) {
    const value = env[envName(key)]
    if (value !== undefined && value !== '') values[key] = value
  }
  const result = schema.safeParse(values)
  if (result.success) return result.data
  throw new ConfigError(
    result.error.issues.map((issue) => {
      const key = String(issue.path[0] ?? '')
      const problem = values[key] === undefined ? 'is missing' : issue.message
      const description =
        schema.shape[key] instanceof z.ZodType ? schema.shape[key].meta()?.description : undefined
      return `${envName(key)} ${problem}${description ? ` (${description})` : ''}`
    }),
  )
}

const jsonObject = z.string().transform((text, context) => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' })
    return z.NEVER
  }
})

/** A variable that contains a JSON object of strings, such as a map of service name to URL. */
export const stringMap = jsonObject.pipe(z.record(z.string(), z.string()))

/** A variable that contains a JSON object of service name to base URL. */
const urlMap = stringMap.pipe(z.record(z.string(), z.url({ protocol: /^https?$/ })))

/** `true`/`false`/`1`/`0`. */
export const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')

/** Splits comma-separated values. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** A variable with several comma-separated values. */
export const commaSeparated = z.string().transform(commaList)

/**
 * Parses comma-separated `name=value` pairs with percent-encoded values, the OpenTelemetry format of attributes
 * and headers.
 */
function attributesOf(text: string, context: z.RefinementCtx): Record<string, string> {
  try {
    const pairs = commaList(text).map((pair) => {
      const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? []
      if (name === undefined || value === undefined) throw new TypeError('a pair has a name and a value')
      return [name.trim(), decodeURIComponent(value.trim())] as const
    })
    return Object.fromEntries(pairs)
  } catch {
    context.addIssue({ code: 'custom', message: 'is no list of name=value with percent-encoded values' })
    return z.NEVER
  }
}

/** Settings of every service. */
export const baseConfig = z.object({
  port: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(0)
    .meta({ description: 'HTTP port; 0 selects a free one' }),
  host: z.string().default('127.0.0.1').meta({ description: 'address to listen on' }),
  metricsPort: z.coerce.number().int().min(0).max(65535).optional().meta({
    description: 'port of GET /metrics; 0 selects a free one; if unset, nothing is measured',
  }),
  metricsHost: z
    .string()
    .optional()
    .meta({ description: 'address on which the metrics port listens; default: HOST' }),
  otelExporterOtlpEndpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'base URL of an OTLP/HTTP receiver of traces; if unset, nothing is traced',
    }),
  otelExporterOtlpHeaders: z.string().transform(attributesOf).optional().meta({
    description: 'headers sent to the receiver of traces, such as its key: name=value, separated by commas',
  }),
  otelExporterOtlpTimeout: z.coerce.number().int().min(1).max(600_000).default(10_000).meta({
    description: 'maximum duration of one export of traces, in milliseconds',
  }),
  otelExporterOtlpProtocol: z.enum(['http/json']).default('http/json').meta({
    description: 'protocol for sending spans; only http/json is supported',
  }),
  otelServiceName: z.string().optional().meta({
    description: 'service.name of the spans; default: the name of the service',
  }),
  otelResourceAttributes: z.string().transform(attributesOf).optional().meta({
    description: 'attributes of all spans: name=value, separated by commas, values percent-encoded',
  }),
  otelSdkDisabled: flag
    .default(false)
    .meta({ description: 'true disables tracing, regardless of the configured receiver' }),
  otelTracesSampler: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .optional()
    .meta({
      description: 'requests that are traced: all, none, or the share set by OTEL_TRACES_SAMPLER_ARG',
    }),
  otelTracesSamplerArg: z.coerce.number().min(0).max(1).optional().meta({
    description: 'share of requests that are traced; if unset, one in twenty, and at most five a second',
  }),
  natsUrl: z.string().default('nats://127.0.0.1:4222').meta({ description: 'URL of the NATS server' }),
  natsPrefix: z
    .string()
    .regex(/^[a-z0-9]*$/, 'must be lower-case letters and digits')
    .default('')
    .meta({ description: 'prefix that separates several installations on one NATS server' }),
  installationId: z
    .string()
    .regex(/^[a-z][a-z0-9]{5}$/, 'must be the id that opsplane secrets or adopt has printed')
    .optional()
    .meta({
      description:
        'id of the installation; if unset, a database or a stream of another installation is not recognized',
    }),
  instanceId: z.string().min(1).max(200).default(hostname).meta({
    description:
      'name of this replica in leases; unique among the replicas of a service, and unchanged by a restart',
  }),
  drainDelayMs: z.coerce.number().int().min(0).max(60_000).default(0).meta({
    description:
      'milliseconds a service that is shutting down still accepts requests, until balancers send them elsewhere',
  }),
  serviceUrls: urlMap.default({}).meta({
    description: 'JSON object: service name to its base URL, such as {"settings":"http://…"}',
  }),
  internalTlsCertFile: z.string().optional().meta({
    description:
      'PEM file of the certificate this service presents to other services, which then call it with https',
  }),
  internalTlsKeyFile: z
    .string()
    .optional()
    .meta({ description: 'PEM file of the private key of the internal TLS certificate' }),
  internalTlsCaFile: z.string().optional().meta({
    description: 'PEM file of the certificate authority by which services trust each other',
  }),
  internalTlsMutual: flag.default(false).meta({
    description: 'callers of this service must present a certificate of the internal certificate authority',
  }),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  logTenantData: flag.default(false).meta({
    description:
      'log errors with the values sent by tenants, for troubleshooting; off by default, because logs then contain ' +
      'tenant data',
  }),
  limits: jsonObject
    .pipe(LimitValues)
    .default({})
    .meta({
      description:
        'JSON object: name of a limit to its value for every workspace, where it differs from the default; 0 for no ' +
        'limit',
    }),
  workspaceLimits: jsonObject.pipe(z.record(z.string(), LimitValues)).default({}).meta({
    description: 'JSON object: workspace id to the limits that apply to that workspace only',
  }),
  servicePrivateKey: z
    .string()
    .meta({ description: 'Ed25519 private key of this service, PKCS#8 DER in base64' }),
  previousServicePrivateKeys: commaSeparated.default([]).meta({
    description:
      'comma-separated earlier private keys of this service, for messages that are still in the streams',
  }),
  trustedServiceKeys: stringMap.meta({
    description:
      'JSON object: service name to its Ed25519 public key, SPKI DER in base64; earlier keys follow after a comma',
  }),
})
export type BaseConfig = z.infer<typeof baseConfig>

/** The base URL of another service. Throws ConfigError if it is not configured. */
export function urlOfService({ serviceUrls }: Pick<BaseConfig, 'serviceUrls'>, service: string): string {
  const url = serviceUrls[service]
  if (url === undefined) throw new ConfigError([`SERVICE_URLS does not name the ${service} service`])
  return url
}

/** `DATABASE_POOL_SIZE`, with the service's default number of connections. */
export const databaseConnections = (usual: number) =>
  z.coerce.number().int().min(3).max(1_000).default(usual).meta({
    description: 'maximum number of connections of one replica to its database, in total; at least 3',
  })

/** Settings of services with a database. */
export const backendConfig = baseConfig.extend({
  databaseUrl: z.string().meta({ description: 'Postgres URL of the login role of this service' }),
  databasePoolSize: databaseConnections(5),
  natsAckWaitMs: z.coerce
    .number()
    .int()
    .min(500)
    .max(600_000)
    .default(30_000)
    .meta({
      description:
        'milliseconds until NATS redelivers a message that a process has neither acknowledged nor reported as in ' +
        'progress, such as after a crash',
    }),
  natsStreamReplicas: z.coerce
    .number()
    .int()
    .min(1)
    .max(5)
    .optional()
    .meta({
      description:
        'replicas of the JetStream streams; if this or one of the next four variables is unset, the server keeps its ' +
        'current setting',
    }),
  natsEventsMaxAgeMs: z.coerce.number().int().min(1_000).optional().meta({
    description: 'milliseconds the stream keeps events; a new stream keeps them for a week by default',
  }),
  natsTopicsMaxAgeMs: z.coerce.number().int().min(1_000).optional().meta({
    description:
      'milliseconds the stream keeps messages of topics; a new stream keeps them for a week by default',
  }),
  natsStreamMaxBytes: z.coerce.number().int().min(-1).optional().meta({
    description: 'maximum size of each stream in bytes; -1 for no limit, the default of a new stream',
  }),
  natsStreamStorage: z.enum(['file', 'memory']).optional().meta({
    description: 'storage of a new stream; default: file',
  }),
  cursorSecret: z
    .string()
    .min(32)
    .meta({ description: 'secret that signs list cursors; at least 32 characters' }),
})
export type BackendConfig = z.infer<typeof backendConfig>

/** An origin such as `https://ops.example.com`; the rest of a URL is dropped. */
export const originSetting = z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)

const mustBeKey = 'must be 32 bytes in base64'

/** Settings of services that seal values. */
export const masterKeyConfig = {
  opsplaneMasterKey: z.string().refine(isMasterKey, mustBeKey).meta({
    description: '32 random bytes in base64 that wrap the data keys of secrets; store them separately',
  }),
  opsplanePreviousMasterKeys: commaSeparated
    .default([])
    .refine((keys) => keys.every(isMasterKey), `${mustBeKey}, each`)
    .meta({
      description:
        'comma-separated earlier master keys that are only used to unwrap, while a new one is introduced',
    }),
}
