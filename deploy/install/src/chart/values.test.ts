import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { serviceNames } from '@opsplane/contracts'
import { completeSecrets, findVariables } from '@opsplane/local'
import { services } from '@opsplane/local/services'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { z } from 'zod'
import { secretEnvironments } from '../installation.js'
import { manifest } from '../kubernetes.js'

const folder = fileURLToPath(new URL('../../../../helm/opsplane', import.meta.url))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')

const Variables = z.object({
  properties: z.object({ config: z.object({ properties: z.record(z.string(), z.unknown()) }) }),
})
const Schema = z.looseObject({
  properties: z.looseObject({ services: z.object({ properties: z.record(z.string(), Variables) }) }),
})
const Entry = z.strictObject({
  database: z.boolean().default(false),
  connections: z.number().optional(),
  sessions: z.number().optional(),
  origin: z.boolean().default(false),
  outbound: z.boolean().default(false),
  secret: z.array(z.string()).default([]),
  optional: z.array(z.string()).default([]),
})

const schemaText = read('values.schema.json')
const schema = Schema.parse(JSON.parse(schemaText))
const isValid = new Ajv({ strict: false, allErrors: true }).compile(JSON.parse(schemaText))
const defined = (name: string): string => {
  const [, text = ''] = read('templates/_services.tpl').split(`define "${name}" -}}`)
  return text.slice(0, text.indexOf('{{- end -}}'))
}
const catalogue = z.record(z.string(), Entry).parse(parse(defined('opsplane.catalogue')))

type Values = Record<string, unknown>
/** Merges the values of an installation over those of the chart, as Helm does. */
function over(base: unknown, own: unknown): unknown {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap(base) || !isMap(own)) return own
  return Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(own)])].map((key) => [
      key,
      key in own ? over(base[key], own[key]) : base[key],
    ]),
  )
}
const valuesOf = (own: unknown) => over(parse(read('values.yaml')), own)
const problemsOf = (own: unknown): string[] => {
  isValid(valuesOf(own))
  return (isValid.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}
const origin = { publicOrigin: 'https://ops.example.com' }

test.each(readdirSync(join(folder, 'examples')))('the values of %s match the schema', (name) => {
  expect(problemsOf(parse(read(`examples/${name}`)))).toEqual([])
})

describe('the schema rejects an invalid value and names it', () => {
  test.each<[string, Values, string]>([
    ['an origin that is missing', {}, '/publicOrigin'],
    ['an origin with a path', { publicOrigin: 'https://ops.example.com/ops' }, '/publicOrigin'],
    ['an unknown name', { ...origin, replicas: 3 }, '"replicas"'],
    ['an unknown service', { ...origin, services: { billing: {} } }, '"billing"'],
    [
      'a count that is a word',
      { ...origin, services: { itsm: { replicas: 'two' } } },
      '/services/itsm/replicas',
    ],
    [
      'a variable of another service',
      { ...origin, services: { itsm: { config: { WEBHOOK_CONCURRENCY: 5 } } } },
      '/services/itsm/config',
    ],
    [
      'a secret among the configuration',
      { ...origin, services: { settings: { config: { OPSPLANE_MASTER_KEY: 'x' } } } },
      '"OPSPLANE_MASTER_KEY"',
    ],
    [
      'a grace shorter than a long-poll and the drain',
      { ...origin, defaults: { terminationGracePeriodSeconds: 20 } },
      '/defaults/terminationGracePeriodSeconds',
    ],
    [
      'no address of metadata to deny',
      { ...origin, networkPolicy: { metadataCidrs: [] } },
      '/networkPolicy/metadataCidrs',
    ],
    ['a digest that is none', { ...origin, image: { digest: 'latest' } }, '/image/digest'],
    ['an ingress without hosts', { ...origin, ingress: { enabled: true } }, '/ingress/hosts'],
    [
      'a host without a name',
      { ...origin, ingress: { hosts: [{ paths: [{ path: '/' }] }] } },
      '/ingress/hosts/0',
    ],
    [
      'a path that is none',
      { ...origin, ingress: { hosts: [{ host: 'a', paths: [{ path: 'b' }] }] } },
      '/ingress/hosts/0',
    ],
    ['TLS without a Secret', { ...origin, ingress: { tls: [{ hosts: ['a'] }] } }, '/ingress/tls/0'],
    ['a certificate without its Secret', { ...origin, certManager: { enabled: true } }, '/ingress/tls'],
    ['a proxy that is no network', { ...origin, trustedProxies: ['10.0.0.1'] }, '/trustedProxies/0'],
    [
      'proxies among the variables',
      { ...origin, services: { gateway: { config: { TRUST_PROXY_CIDRS: '10.0.0.0/8' } } } },
      '"TRUST_PROXY_CIDRS"',
    ],
    [
      'an origin of apps with a path',
      { ...origin, appsOrigin: 'https://ops.example.com/apps' },
      '/appsOrigin',
    ],
    [
      'an alias without a name',
      { ...origin, hostAliases: [{ ip: '10.0.0.1', hostnames: [] }] },
      '/hostAliases/0',
    ],
    [
      'a container without a name',
      { ...origin, defaults: { sidecars: [{ image: 'a' }] } },
      '/defaults/sidecars/0',
    ],
    ['no backup that is kept', { ...origin, backup: { keep: 0 } }, '/backup/keep'],
    ['a time of backups that is none', { ...origin, backup: { schedule: 'daily' } }, '/backup/schedule'],
    [
      'a label no autoscaler can select',
      { ...origin, metrics: { installation: 'a/b' } },
      '/metrics/installation',
    ],
    [
      'a pooler without instances',
      { ...origin, postgresql: { cnpg: { pooler: { instances: 0 } } } },
      '/postgresql/cnpg/pooler',
    ],
    ['an object that is a number', { ...origin, extraObjects: [5] }, '/extraObjects/0'],
  ])('%s', (_what, own, named) => {
    expect(problemsOf(own).join('\n')).toContain(named)
  })
})

test('the catalogue and the schema of the chart list every service', () => {
  expect(Object.keys(catalogue).sort()).toEqual([...serviceNames].sort())
  expect(Object.keys(schema.properties.services.properties).sort()).toEqual([...serviceNames].sort())
})

// A service missing from the chart fails the test above.
describe.each(serviceNames.filter((name) => name in catalogue))('%s', (name) => {
  const entry = Entry.parse(catalogue[name])
  const required = [
    ...['NATS_URL', 'SERVICE_PRIVATE_KEY', 'TRUSTED_SERVICE_KEYS'],
    ...(entry.database ? ['DATABASE_URL', 'CURSOR_SECRET'] : []),
    ...entry.secret,
  ]
  // Secrets created by earlier versions lack INSTALLATION_ID: services then cannot detect resources of another
  // installation.
  const expected = ['INSTALLATION_ID', ...required]
  const secret = [
    ...[...expected, 'PREVIOUS_SERVICE_PRIVATE_KEYS', 'OTEL_EXPORTER_OTLP_HEADERS', ...entry.optional],
  ]
  const ofChart = [
    ...['HOST', 'PORT', 'DRAIN_DELAY_MS', 'INSTANCE_ID', 'SERVICE_URLS'],
    ...['NATS_PREFIX', 'LIMITS', 'WORKSPACE_LIMITS'],
    ...['METRICS_HOST', 'METRICS_PORT', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG'],
    ...['INTERNAL_TLS_CERT_FILE', 'INTERNAL_TLS_KEY_FILE', 'INTERNAL_TLS_CA_FILE', 'INTERNAL_TLS_MUTUAL'],
    ...(entry.database ? ['NATS_STREAM_REPLICAS'] : []),
    ...(entry.origin ? ['PUBLIC_ORIGIN'] : []),
    ...(name === 'gateway' ? ['APPS_ORIGIN', 'TRUST_PROXY_CIDRS'] : []),
  ]

  test('has each of its variables in exactly one place: the chart, its Secret or its configuration', () => {
    const configuration = Object.keys(
      schema.properties.services.properties[name]?.properties.config.properties ?? {},
    )
    expect([...configuration, ...ofChart, ...secret].sort()).toEqual(findVariables(services[name]).sort())
  })

  test('has a number of connections exactly if it has a database', () => {
    expect(entry.connections !== undefined).toBe(entry.database)
  })

  test('starts with the variables of its Secret, and is configured with the connections in the catalogue', () => {
    const servers = { postgresUrl: 'postgres://postgres@db:5432/opsplane', natsUrl: 'nats://nats:4222' }
    const environment = secretEnvironments(completeSecrets(), servers)[name]
    expect(Object.keys(environment).sort()).toEqual([...expected].sort())
    const config = services[name].loadConfig({
      ...environment,
      SERVICE_URLS: '{"settings":"http://settings:8080"}',
    })
    expect(config).toMatchObject({
      ...(entry.database && { databasePoolSize: entry.connections }),
      ...(entry.sessions !== undefined && { dataSessions: entry.sessions }),
    })
  })
})

test('generated Secrets have the names and variables that the chart expects', () => {
  const { items } = manifest({
    ...{ postgres: 'postgres://postgres:pw@db:5432/opsplane', nats: 'nats://nats:4222' },
    ...{ ownerEmail: 'ada@example.com', prefix: 'ops' },
  })
  const variables = Object.fromEntries(
    items.map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)]),
  )
  expect(variables).toMatchObject({
    'ops-migrations': ['DATABASE_URL', 'INSTALLATION_ID', 'DATABASE_PASSWORDS'],
    'ops-bootstrap': ['OPERATOR_PRIVATE_KEY', 'OWNER_EMAIL', 'OWNER_PASSWORD'],
    'ops-postgres-superuser': ['username', 'password'],
    'ops-nats-users': ['users.conf'],
  })
  for (const name of serviceNames) expect(variables[`ops-${name}`]).toContain('SERVICE_PRIVATE_KEY')
})

test('with a transaction pooler every service except the studio connects through it', () => {
  const servers = { postgres: 'postgres://postgres:pw@db:5432/opsplane', nats: 'nats://nats:4222' }
  const hostsOf = (servicesPostgres?: string) => {
    const { items } = manifest({
      ...{ ...servers, ownerEmail: 'ada@example.com', prefix: 'ops' },
      ...(servicesPostgres !== undefined && { servicesPostgres }),
    })
    const ofServices = items.filter(({ metadata }) =>
      serviceNames.some((name) => metadata.name === `ops-${name}`),
    )
    return Object.fromEntries(
      ofServices.flatMap(({ metadata: { name }, stringData: { DATABASE_URL } }) =>
        DATABASE_URL === undefined ? [] : [[name.slice('ops-'.length), DATABASE_URL.replace(/.*@/, '')]],
      ),
    )
  }
  const pooled = hostsOf('postgres://pooler:6432/opsplane?pooler=transaction')
  for (const [name, host] of Object.entries(pooled))
    expect([name, host]).toEqual([
      name,
      name === 'database-studio'
        ? expect.stringMatching(/^db:5432\/[^?]+$/)
        : 'pooler:6432/opsplane?pooler=transaction',
    ])
  expect(Object.keys(pooled)).toHaveLength(serviceNames.length - 1)
  // Without `?pooler=transaction` the URL is only a different host name inside the cluster, and applies to all
  // services.
  for (const host of Object.values(hostsOf('postgres://inside:5432/opsplane')))
    expect(host).toMatch(/^inside:5432/)
})
