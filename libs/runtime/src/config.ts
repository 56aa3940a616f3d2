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
    .meta({ description: 'HTTP port; 0 takes a free one' }),
  host: z.string().default('127.0.0.1').meta({ description: 'address to listen on' }),
  metricsPort: z.coerce.number().int().min(0).max(65535).optional().meta({
    description: 'port of GET /metrics, 0 takes a free one; without it nothing is measured',
  }),
  metricsHost: z.string().optional().meta({ description: 'address of that port; HOST unless given' }),
  otelExporterOtlpEndpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description: 'base URL of an OTLP/HTTP receiver of traces; without it nothing is traced',
    }),
  otelExporterOtlpHeaders: z.string().transform(attributesOf).optional().meta({
    description: 'headers sent to it, such as its key: name=value, separated by commas',
  }),
  otelExporterOtlpTimeout: z.coerce.number().int().min(1).max(600_000).default(10_000).meta({
    description: 'milliseconds one export may take',
  }),
  otelExporterOtlpProtocol: z.enum(['http/json']).default('http/json').meta({
    description: 'how spans are sent; there is no other way than http/json',
  }),
  otelServiceName: z.string().optional().meta({
    description: "service.name of the spans; the service's own unless given",
  }),
  otelResourceAttributes: z.string().transform(attributesOf).optional().meta({
    description: 'attributes of all spans: name=value, separated by commas, values percent-encoded',
  }),
  otelSdkDisabled: flag
    .default(false)
    .meta({ description: 'true traces nothing, wherever it would be sent' }),
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
      description: 'which requests are traced: all, none, or the share that OTEL_TRACES_SAMPLER_ARG names',
    }),
  otelTracesSamplerArg: z.coerce.number().min(0).max(1).optional().meta({
    description: 'the share of requests that are traced; unless set one in twenty, and at most five a second',
  }),
  natsUrl: z.string().default('nats://127.0.0.1:4222').meta({ description: 'NATS server' }),
  natsPrefix: z
    .string()
    .regex(/^[a-z0-9]*$/, 'must be lower-case letters and digits')
    .default('')
    .meta({ description: 'keeps several installations apart on one NATS server' }),
  installationId: z
    .string()
    .regex(/^[a-z][a-z0-9]{5}$/, 'must be the id that opsplane secrets or adopt has printed')
    .optional()
    .meta({
      description:
        'id of the installation; without it a database or a stream of another one is not recognized',
    }),
  instanceId: z.string().min(1).max(200).default(hostname).meta({
    description: 'names this replica in leases: no two of a service share one, and a restart keeps it',
  }),
  drainDelayMs: z.coerce.number().int().min(0).max(60_000).default(0).meta({
    description:
      'how long a service that is asked to end still takes requests, until balancers send them elsewhere',
  }),
  serviceUrls: urlMap.default({}).meta({
    description: 'JSON object: service name to its base URL, such as {"settings":"http://…"}',
  }),
  internalTlsCertFile: z.string().optional().meta({
    description:
      'PEM file of the certificate that this service shows to the others; they then call it with https',
  }),
  internalTlsKeyFile: z.string().optional().meta({ description: 'PEM file of its key' }),
  internalTlsCaFile: z.string().optional().meta({
    description: 'PEM file of the authority by which services know each other',
  }),
  internalTlsMutual: flag.default(false).meta({
    description: 'callers of this service must present a certificate of that authority',
  }),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  logTenantData: flag.default(false).meta({
    description: 'log errors with the values tenants sent, to find a fault; off for a reason',
  }),
  limits: jsonObject.pipe(LimitValues).default({}).meta({
    description: 'JSON object: limits of every workspace that are not the usual ones, by name; 0 for none',
  }),
  workspaceLimits: jsonObject.pipe(z.record(z.string(), LimitValues)).default({}).meta({
    description: 'JSON object: workspace id to the limits that hold for it alone',
  }),
  servicePrivateKey: z
    .string()
    .meta({ description: 'Ed25519 private key of this service, PKCS#8 DER in base64' }),
  previousServicePrivateKeys: commaSeparated.default([]).meta({
    description: 'comma-separated keys this service had before, for what the streams still hold',
  }),
  trustedServiceKeys: stringMap.meta({
    description:
      'JSON object: service name to its Ed25519 public key, SPKI DER in base64; earlier ones follow after a comma',
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
    description: 'most connections of one replica to its database, in all; at least 3',
  })

/** Settings of services with a database. */
export const backendConfig = baseConfig.extend({
  databaseUrl: z.string().meta({ description: "Postgres URL of this service's own login role" }),
  databasePoolSize: databaseConnections(5),
  natsAckWaitMs: z.coerce.number().int().min(500).max(600_000).default(30_000).meta({
    description:
      'milliseconds until NATS redelivers what a process has neither acknowledged nor reported as in progress, as after a crash',
  }),
  natsStreamReplicas: z.coerce.number().int().min(1).max(5).optional().meta({
    description:
      'replicas of the JetStream streams; like the next four, what is not given stays as it is on the server',
  }),
  natsEventsMaxAgeMs: z.coerce.number().int().min(1_000).optional().meta({
    description: 'how long the stream keeps events; a new one keeps them for a week by default',
  }),
  natsTopicsMaxAgeMs: z.coerce.number().int().min(1_000).optional().meta({
    description: 'the same for the messages of topics',
  }),
  natsStreamMaxBytes: z.coerce.number().int().min(-1).optional().meta({
    description: 'most bytes of each stream, -1 for no limit, as a new one has',
  }),
  natsStreamStorage: z.enum(['file', 'memory']).optional().meta({
    description: 'where a new stream is kept: file by default',
  }),
  cursorSecret: z.string().min(32).meta({ description: 'at least 32 characters; signs list cursors' }),
})
export type BackendConfig = z.infer<typeof backendConfig>

/** An origin such as `https://ops.example.com`; the rest of a URL is dropped. */
export const originSetting = z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)

const mustBeKey = 'must be 32 bytes in base64'

/** Settings of services that seal values. */
export const masterKeyConfig = {
  opsplaneMasterKey: z
    .string()
    .refine(isMasterKey, mustBeKey)
    .meta({ description: '32 random bytes in base64, which wrap the data keys of secrets; keep it apart' }),
  opsplanePreviousMasterKeys: commaSeparated
    .default([])
    .refine((keys) => keys.every(isMasterKey), `${mustBeKey}, each`)
    .meta({ description: 'comma-separated master keys that only unwrap, while a new one is introduced' }),
}
