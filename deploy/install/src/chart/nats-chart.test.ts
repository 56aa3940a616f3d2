import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { manifest } from '../kubernetes.js'
import { areToolsEnabled, downloadModule, goProgram, kubernetes, run } from './chart-tools.fixture.js'
import { kubeconform, writeKindSchemas } from './schemas.fixture.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const values = join(root, 'helm/nats.yaml')
/** The unmodified official chart, in the version the values are written for. */
const natsChart = join(root, 'helm/nats-2.14.2.tgz')
const folder = mkdtempSync(join(tmpdir(), 'opsplane-nats-chart-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The Secret with the NATS users, as `opsplane secrets` prints it. */
function usersSecret() {
  const servers = { postgres: 'postgres://postgres:pw@db:5432/opsplane', nats: 'nats://nats:4222' }
  const { items } = manifest({ ...servers, ownerEmail: 'ada@example.com', prefix: 'opsplane' })
  const Secret = z.object({
    metadata: z.object({ name: z.string() }),
    stringData: z.object({ 'users.conf': z.string() }),
  })
  return items.map((item) => Secret.safeParse(item)).flatMap(({ data }) => data ?? [])[0] ?? never()
}

/** The API server treats null as absent; its schemas do not describe that. */
const withoutNulls = (manifests: string) => manifests.replaceAll(/^ *\w+: null\n/gm, '')

function never(): never {
  throw new Error('no Secret has users.conf')
}

const Values = z.object({
  config: z.object({
    cluster: z.object({ enabled: z.boolean(), replicas: z.number() }),
    jetstream: z.object({ enabled: z.boolean(), merge: z.record(z.string(), z.string()) }),
    merge: z.record(z.string(), z.string()),
  }),
})

test('the NATS values for three servers match the settings of nats.conf for compose', () => {
  const { config } = Values.parse(parse(readFileSync(values, 'utf8')))
  const ofCompose = readFileSync(join(root, 'deploy/image/nats.conf'), 'utf8')
  const setting = (name: string) => new RegExp(`${name}: (\\S+)`).exec(ofCompose)?.[1]
  expect(config.cluster).toEqual({ enabled: true, replicas: 3 })
  expect(config.jetstream.enabled).toBe(true)
  expect(config.jetstream.merge.sync_interval).toBe(setting('sync_interval'))
  // This chart uses these marks for values that are written without quotes.
  expect(config.merge.max_payload).toBe(`<< ${setting('max_payload')} >>`)
})

test('the NATS values name the version of the chart in this repository', () => {
  expect(readFileSync(values, 'utf8')).toContain('helm install nats helm/nats-2.14.2.tgz ')
})

const described = areToolsEnabled ? describe : describe.skip
described('the official chart of NATS with the values for it', () => {
  let rendered: string
  let resources: z.infer<typeof Resource>[]
  const Resource = z.looseObject({ kind: z.string(), metadata: z.object({ name: z.string() }) })

  beforeAll(() => {
    const helm = goProgram('helm')
    const args = ['template', 'nats', natsChart, '--namespace', 'ops', '--values', values]
    const { status, stdout, output } = run(helm, [...args, '--kube-version', kubernetes.version])
    if (status !== 0) throw new Error(output)
    rendered = stdout
    resources = parseAllDocuments(rendered).map((document) => Resource.parse(document.toJS()))
  })

  const resource = (kind: string) => resources.find((one) => one.kind === kind)

  test('renders manifests that are valid for Kubernetes', () => {
    const schemas = join(folder, 'schemas')
    writeKindSchemas(join(downloadModule(kubernetes.module), 'api/openapi-spec/swagger.json'), schemas)
    const { output } = kubeconform(goProgram('kubeconform'), schemas, withoutNulls(rendered))
    expect(output).toMatch(/ Invalid: 0, Errors: 0, Skipped: 0/)
  })

  test('runs three servers, on separate nodes and volumes, with at most one unavailable', () => {
    expect(resource('StatefulSet')).toMatchObject({
      spec: {
        replicas: 3,
        template: {
          spec: { topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
        },
        volumeClaimTemplates: [{ spec: { resources: { requests: { storage: '20Gi' } } } }],
      },
    })
    expect(resource('PodDisruptionBudget')).toMatchObject({ spec: { maxUnavailable: 1 } })
  })

  test('renders a configuration that nats-server accepts, with the users of the Secret', () => {
    const { data } = z.object({ data: z.object({ 'nats.conf': z.string() }) }).parse(resource('ConfigMap'))
    const configuration = data['nats.conf']
    for (const setting of [
      '"sync_interval": "always"',
      '"max_payload": 8MB',
      'include ../nats-users/users.conf;',
    ])
      expect(configuration).toContain(setting)
    const server = goProgram('nats-server')
    const check = (text: string, users: string) => {
      for (const name of ['nats-config', 'nats-users']) mkdirSync(join(folder, name), { recursive: true })
      writeFileSync(join(folder, 'nats-users/users.conf'), users)
      const file = join(folder, 'nats-config/nats.conf')
      writeFileSync(file, text.replace('$SERVER_NAME', 'nats-0'))
      return run(server, ['-t', '--config', file])
    }
    const { metadata, stringData } = usersSecret()
    expect(resource('StatefulSet')).toMatchObject({
      spec: {
        template: {
          spec: {
            volumes: expect.arrayContaining([{ name: 'users', secret: { secretName: metadata.name } }]),
          },
        },
      },
    })
    expect(check(configuration, stringData['users.conf'])).toMatchObject({
      status: 0,
      output: expect.stringContaining('is valid'),
    })
    expect(check(configuration.replace('8MB', '8XB'), stringData['users.conf']).status).not.toBe(0)
    expect(check(configuration, 'authorization { users: [').status).not.toBe(0)
  })
})
