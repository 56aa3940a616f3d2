import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areToolsEnabled, chart, goProgram } from './chart-tools.fixture.js'
import { type Manifest, manifests, notes } from './render.fixture.js'

const Container = z.looseObject({ name: z.string(), args: z.array(z.string()).default([]) })
const PodSpec = z.looseObject({
  containers: z.array(Container),
  initContainers: z.array(Container).default([]),
  hostAliases: z.array(z.unknown()).default([]),
})
const Template = z.object({ template: z.object({ spec: PodSpec }) })
const ConfigMap = z.object({ data: z.record(z.string(), z.string()) })

/** Specification of the pods that a manifest creates; `undefined` if it creates none. */
function podOf({ kind, spec }: Manifest): z.infer<typeof PodSpec> | undefined {
  if (kind === 'Pod') return PodSpec.parse(spec)
  if (kind === 'Deployment' || kind === 'Job') return Template.parse(spec).template.spec
  if (kind !== 'CronJob') return undefined
  return z.object({ jobTemplate: z.object({ spec: Template }) }).parse(spec).jobTemplate.spec.template.spec
}

const described = areToolsEnabled ? describe : describe.skip
described('manifests of the chart', () => {
  let helm: string
  beforeAll(() => {
    helm = goProgram('helm')
  })

  const one = (all: Manifest[], kind: string, name: string): Manifest => {
    const found = all.find((each) => each.kind === kind && each.metadata.name === name)
    if (!found) throw new Error(`no ${kind} ${name} among ${all.map((each) => each.metadata.name).join()}`)
    return found
  }

  test('host aliases apply to every pod, including those of jobs', () => {
    const more = ['--set', 'migrations.enabled=true']
    const pods = manifests(helm, 'house-rules.yaml', ...more).flatMap((each) => podOf(each) ?? [])
    expect(pods.filter(({ hostAliases }) => hostAliases.length !== 1)).toEqual([])
    const jobs = pods.flatMap(({ containers }) => containers.slice(0, 1).map(({ name }) => name))
    expect(jobs).toEqual(expect.arrayContaining(['backup', 'bootstrap', 'migrations', 'ready', 'gateway']))
  })

  test('containers of a single service replace those configured for all services', () => {
    const all = manifests(helm, 'house-rules.yaml')
    const namesOf = (service: string) => {
      const pod = podOf(one(all, 'Deployment', `ops-staging-${service}`))
      return {
        before: pod?.initContainers.map(({ name }) => name),
        running: pod?.containers.map(({ name }) => name),
      }
    }
    expect(namesOf('itsm')).toEqual({ before: ['log-shipper'], running: ['itsm'] })
    expect(namesOf('settings')).toEqual({ before: ['wait-for-postgres'], running: ['settings'] })
    expect(namesOf('gateway')).toEqual({ before: ['log-shipper'], running: ['gateway', 'access-log'] })
  })

  test('trusted proxies and the origin for apps are passed to the gateway', () => {
    const { data } = ConfigMap.parse(one(manifests(helm, 'large.yaml'), 'ConfigMap', 'opsplane-gateway'))
    expect(data).toMatchObject({ TRUST_PROXY_CIDRS: '10.0.0.0/8', APPS_ORIGIN: 'https://apps.example.com' })
    const without = ConfigMap.parse(one(manifests(helm, 'small.yaml'), 'ConfigMap', 'opsplane-gateway'))
    expect(Object.keys(without.data)).not.toContain('TRUST_PROXY_CIDRS')
  })

  test('the ingress has all Secrets and paths, and cert-manager creates a certificate for each Secret', () => {
    const all = manifests(
      helm,
      'large.yaml',
      ...['--set', 'ingress.tls[2].secretName=all', '--set', 'ingress.hosts[1].paths[1].path=/b'],
      ...['--set', 'ingress.hosts[1].paths[1].pathType=Exact'],
      ...['--set', 'ingress.hosts[1].paths[1].backend.service.name=other'],
      ...['--set', 'ingress.hosts[1].paths[1].backend.service.port.number=80'],
    )
    const gateway = { service: { name: 'opsplane-gateway', port: { name: 'http' } } }
    const other = { service: { name: 'other', port: { number: 80 } } }
    expect(one(all, 'Ingress', 'opsplane').spec).toMatchObject({
      tls: [
        { secretName: 'opsplane-ingress-tls', hosts: ['ops.example.com'] },
        { secretName: 'opsplane-apps-tls', hosts: ['apps.example.com'] },
        { secretName: 'all', hosts: ['ops.example.com', 'apps.example.com'] },
      ],
      rules: [
        {
          host: 'ops.example.com',
          http: { paths: [{ path: '/', pathType: 'Prefix', backend: gateway }] },
        },
        {
          host: 'apps.example.com',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: gateway },
              { path: '/b', pathType: 'Exact', backend: other },
            ],
          },
        },
      ],
    })
    expect(one(all, 'Certificate', 'opsplane-apps-tls').spec).toMatchObject({
      dnsNames: ['apps.example.com'],
    })
    expect(one(all, 'Certificate', 'all').spec).toMatchObject({
      dnsNames: ['ops.example.com', 'apps.example.com'],
    })
  })

  test('backups run one at a time, into a new claim that outlives the release or into an existing claim', () => {
    const made = manifests(helm, 'gateway-api.yaml')
    const job = one(made, 'CronJob', 'opsplane-backup')
    expect(job.spec).toMatchObject({ schedule: '17 2 * * *', concurrencyPolicy: 'Forbid' })
    expect(podOf(job)?.containers).toMatchObject([
      {
        args: ['backup', '--into', '/backups', '--keep', '14'],
        volumeMounts: [{}, { mountPath: '/backups' }],
      },
    ])
    expect(one(made, 'PersistentVolumeClaim', 'opsplane-backups')).toMatchObject({
      metadata: { annotations: { 'helm.sh/resource-policy': 'keep' } },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '100Gi' } } },
    })
    const given = manifests(helm, 'house-rules.yaml')
    expect(given.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([])
    expect(podOf(one(given, 'CronJob', 'ops-staging-backup'))).toMatchObject({
      volumes: [{ name: 'tmp' }, { persistentVolumeClaim: { claimName: 'house-backups' } }],
    })
    expect(
      made.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && /backup/.test(metadata.name)),
    ).toHaveLength(1)
  })

  test('each dashboard file becomes a ConfigMap with the label of the Grafana sidecar, unchanged', () => {
    const maps = manifests(helm, 'large.yaml').filter(
      ({ metadata }) => metadata.labels.grafana_dashboard === '1',
    )
    const found = Object.assign({}, ...maps.map((map) => ConfigMap.parse(map).data))
    const folder = join(chart, 'files/dashboards')
    expect(Object.keys(found).sort()).toEqual(readdirSync(folder).sort())
    for (const [file, text] of Object.entries(found))
      expect(JSON.parse(String(text))).toEqual(JSON.parse(readFileSync(join(folder, file), 'utf8')))
  })

  test('templates in extraObjects are rendered, in objects and in texts', () => {
    const all = manifests(helm, 'house-rules.yaml')
    expect(one(all, 'ConfigMap', 'house-environment')).toMatchObject({ data: { RELEASE: 'opsplane' } })
    expect(one(all, 'ResourceQuota', 'ops-staging').spec).toEqual({ hard: { pods: '60' } })
  })

  test('the metrics of each release are labelled with its name, and its alert rules select only those', () => {
    for (const [example, name, installation] of [
      ['large.yaml', 'opsplane', 'ops.opsplane'],
      ['house-rules.yaml', 'ops-staging', 'house-staging'],
    ] as const) {
      const all = manifests(helm, example)
      expect(one(all, 'ServiceMonitor', name).spec).toMatchObject({
        endpoints: [{ relabelings: [{ targetLabel: 'installation', replacement: installation }] }],
      })
      const rules = JSON.stringify(one(all, 'PrometheusRule', name).spec)
      const scopes = rules.match(/installation=[^,}]*/g) ?? []
      expect(new Set(scopes)).toEqual(new Set([`installation=\\"${installation}\\"`]))
      expect(scopes.length).toBeGreaterThan(60)
    }
  })

  test('the backup alert uses the configured age, and fires without any backup if the chart runs backups', () => {
    const ruleOf = (example: string, name: string) => {
      const rules = JSON.stringify(one(manifests(helm, example), 'PrometheusRule', name).spec)
      return /time\(\) - max by \(installation\) \(opsplane_backup[^"]*"[^"]*"([^"]*)/.exec(rules)?.[1]
    }
    expect(ruleOf('house-rules.yaml', 'ops-staging')).toBe('}) > 216000')
    expect(ruleOf('large.yaml', 'opsplane')).toBe('} > 0) > 129600')
  })

  test('a CloudNativePG pooler points to the Cluster and uses transaction pooling', () => {
    const all = manifests(helm, 'large.yaml')
    expect(one(all, 'Pooler', 'opsplane-postgres-pooler').spec).toMatchObject({
      cluster: { name: one(all, 'Cluster', 'opsplane-postgres').metadata.name },
      pgbouncer: { poolMode: 'transaction' },
    })
  })

  const proxies = 'trustedProxies is empty'
  test.each<[string, string, string[], string[], string[]]>([
    ['an ingress that is trusted', 'large.yaml', [], [], [proxies]],
    ['an ingress that is not', 'large.yaml', ['--set', 'trustedProxies=null'], [proxies], []],
    ['a route that is not', 'gateway-api.yaml', ['--set', 'trustedProxies=null'], [proxies], []],
    ['a load balancer that is not', 'house-rules.yaml', ['--set', 'trustedProxies=null'], [proxies], []],
    ['nothing in front', 'small.yaml', [], [], [proxies]],
    ['apps at a host of the ingress', 'large.yaml', [], [], ['not among ingress.hosts']],
    [
      'apps elsewhere',
      'large.yaml',
      ['--set', 'appsOrigin=https://elsewhere.example.com'],
      ['elsewhere.example.com of appsOrigin is not among ingress.hosts'],
      [],
    ],
    ['backups', 'house-rules.yaml', [], ['--from=cronjob/ops-staging-backup'], []],
    [
      'fewer connections than are opened',
      'large.yaml',
      ['--set-string', 'postgresql.cnpg.parameters.max_connections=150'],
      ['max_connections of postgresql.cnpg.parameters is 150, fewer than the 200'],
      [],
    ],
  ])('given %s, the notes contain only the advice that applies', (_what, example, more, present, absent) => {
    const text = notes(helm, example, ...more)
    for (const part of present) expect(text).toContain(part)
    for (const part of absent) expect(text).not.toContain(part)
  })

  test.each<[string, string[], number]>([
    ['one replica each, and none more during an update', [], 59],
    ['two during an update', ['--set', 'defaults.strategy.maxSurge=1'], 118],
    [
      'three replicas and a third of them during an update',
      ['--set', 'defaults.replicas=3,defaults.strategy.maxSurge=34%'],
      295,
    ],
    ['a service with more', ['--set', 'services.itsm.config.DATABASE_POOL_SIZE=20'], 72],
    [
      'a service that grows',
      ['--set', 'services.apps.autoscaling.enabled=true,services.apps.autoscaling.maxReplicas=9'],
      99,
    ],
    ['more sessions of tenants', ['--set', 'services.database-studio.config.DATA_SESSIONS=31'], 80],
  ])('given %s, the notes contain the sum of connections', (_what, more, sum) => {
    expect(notes(helm, 'small.yaml', ...more)).toContain(`Postgres has to take ${sum} connections`)
  })
})
