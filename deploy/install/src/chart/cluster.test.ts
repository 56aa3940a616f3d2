import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { serviceNames } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { parseAllDocuments } from 'yaml'
import { manifest } from '../kubernetes.js'
import {
  areToolsEnabled,
  cache,
  chart,
  definitions,
  downloadModule,
  goProgram,
  kubernetes,
  run,
} from './chart-tools.fixture.js'
import { type ControlPlane, startControlPlane } from './control-plane.fixture.js'

const sources = fileURLToPath(new URL('../../control-plane', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'opsplane-cluster-'))

interface Listed<T> {
  items: T[]
}
interface Pod {
  metadata: { name: string; labels: Record<string, string> }
  status: { phase: string }
}

/** The control plane, built from its module; the first build takes a quarter of an hour. */
function controlPlaneProgram(): string {
  const built = join(cache, 'control-plane')
  // A writable copy: Go writes the resolved modules there.
  const workshop = join(cache, 'control-plane-sources')
  mkdirSync(workshop, { recursive: true })
  cpSync(sources, workshop, { recursive: true })
  const [major, minor] = kubernetes.version.split('.')
  const version = { gitVersion: `v${kubernetes.version}`, gitMajor: major, gitMinor: minor }
  const flags = Object.entries(version).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  )
  const args = ['build', '-mod=mod', '-ldflags', `-s -w ${flags.join(' ')}`, '-o', built, '.']
  const { status, output } = run('go', args, { cwd: workshop })
  if (status !== 0) throw new Error(output)
  return built
}

const described = areToolsEnabled ? describe : describe.skip
described('an API server', () => {
  let cluster: ControlPlane
  let helmProgram: string

  beforeAll(async () => {
    helmProgram = goProgram('helm')
    cluster = await startControlPlane(join(folder, 'cluster'), {
      kubernetes: controlPlaneProgram(),
      kwok: goProgram('kwok'),
    })
  })
  afterAll(async () => {
    await cluster?.stop()
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })

  /** Runs helm in a namespace with the name of the release. */
  const helm = async (...args: string[]) => {
    const options = { env: { ...process.env, KUBECONFIG: cluster.kubeconfig }, maxBuffer: 1e8 }
    return (await promisify(execFile)(helmProgram, args, options)).stdout
  }
  const at = (release: string) => ['--namespace', release, '--timeout', '10m']
  const status = async (release: string) =>
    JSON.parse(await helm('status', release, '--namespace', release, '--output', 'json')) as {
      version: number
      info: { status: string }
      hooks: { name: string; last_run: { phase: string } }[]
    }

  /** Creates a namespace with the Secrets that `opsplane secrets` prints. */
  async function prepare(namespace: string) {
    await cluster.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    const servers = { postgres: 'postgres://postgres:pw@db:5432/opsplane', nats: 'nats://nats:4222' }
    const { items } = manifest({ ...servers, ownerEmail: 'ada@example.com', prefix: 'opsplane' })
    for (const item of items) await cluster.ask('POST', `/api/v1/namespaces/${namespace}/secrets`, item)
    await waitFor(() => cluster.ask('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`))
  }
  const podsOf = async (namespace: string, service?: string) => {
    const selector = encodeURIComponent(
      `app.kubernetes.io/instance=${namespace}${service ? `,app.kubernetes.io/component=${service}` : ''}`,
    )
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${selector}`
    return (await cluster.ask<Listed<Pod>>('GET', path)).items
  }
  const templates = async (namespace: string) =>
    Object.fromEntries(
      await Promise.all(
        serviceNames.map(async (service) => {
          const hashes = (await podsOf(namespace, service)).map(
            ({ metadata }) => metadata.labels['pod-template-hash'],
          )
          return [service, [...new Set(hashes)].join()] as const
        }),
      ),
    )
  const changed = (before: Record<string, string>, after: Record<string, string>) =>
    serviceNames.filter((service) => before[service] !== after[service])

  test('the small example installs: hooks succeed and every service is available', async () => {
    await prepare('small')
    const values = ['--values', join(chart, 'examples/small.yaml')]
    const said = await helm('install', 'small', chart, ...at('small'), ...values, '--wait')
    expect(said).toContain('Opsplane 0.2.0 is installed as small in small.')
    const { info, hooks } = await status('small')
    expect(info.status).toBe('deployed')
    expect(Object.fromEntries(hooks.map((hook) => [hook.name, hook.last_run.phase]))).toEqual({
      'small-opsplane-migrate-1': 'Succeeded',
      'small-opsplane-bootstrap': 'Succeeded',
      'small-opsplane-test': '',
    })
    const ready = await podsOf('small')
    for (const service of serviceNames)
      expect(
        ready.filter(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === service),
      ).toHaveLength(1)
    const jobs = await cluster.ask<Listed<unknown>>('GET', '/apis/batch/v1/namespaces/small/jobs')
    expect(jobs.items).toEqual([])
  })

  test('helm test runs a pod that requests the gateway, and succeeds when the pod does', async () => {
    const testing = helm('test', 'small', '--namespace', 'small', '--timeout', '5m')
    const path = '/api/v1/namespaces/small/pods/small-opsplane-test'
    await waitFor(async () => (await cluster.ask<Pod>('GET', path)).status.phase === 'Running')
    // No container runs here, so the pod is reported as completed.
    await waitFor(() => cluster.ask('PATCH', `${path}/status`, { status: { phase: 'Succeeded' } }))
    expect(await testing).toContain('Phase:          Succeeded')
  })

  test('an upgrade migrates first and replaces changed pods only, and a rollback restores the previous pods', async () => {
    const before = await templates('small')
    const values = ['--values', join(chart, 'examples/small.yaml')]
    const upgrade = (...more: string[]) =>
      helm('upgrade', 'small', chart, ...at('small'), ...values, ...more, '--wait')
    await upgrade('--set', 'services.itsm.config.LOG_LEVEL=debug')
    const upgraded = await templates('small')
    expect(changed(before, upgraded)).toEqual(['itsm'])
    const { hooks } = await status('small')
    expect(hooks.find(({ name }) => name === 'small-opsplane-migrate-2')?.last_run.phase).toBe('Succeeded')

    await helm('rollback', 'small', '1', ...at('small'), '--wait')
    expect(await templates('small')).toEqual(before)
    expect(await status('small')).toMatchObject({ version: 3, info: { status: 'deployed' } })

    // A changed key in a Secret restarts the pods of that service, and no others.
    const stringData = { CURSOR_SECRET: 'x'.repeat(44) }
    await cluster.ask('PATCH', '/api/v1/namespaces/small/secrets/opsplane-apps', { stringData })
    await upgrade()
    expect(changed(before, await templates('small'))).toEqual(['apps'])
  })

  test('the large example installs and upgrades, with its custom resources', async () => {
    const crds = join(folder, 'definitions')
    mkdirSync(join(crds, 'crds'), { recursive: true })
    for (const { module, folder: part } of definitions) {
      const from = join(downloadModule(module), part)
      for (const file of readdirSync(from).filter((name) => name.endsWith('.yaml')))
        for (const document of parseAllDocuments(readFileSync(join(from, file), 'utf8')))
          if (document.get('kind') === 'CustomResourceDefinition')
            await cluster.ask(
              'POST',
              '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
              document.toJS(),
            )
    }
    await cluster.ask('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name: 'platform' },
      value: 1_000,
    })
    await prepare('large')
    const values = ['--values', join(chart, 'examples/large.yaml')]
    await helm('install', 'large', chart, ...at('large'), ...values, '--wait')
    expect(await status('large')).toMatchObject({ info: { status: 'deployed' } })
    const count = async (path: string) =>
      (await cluster.ask<Listed<unknown>>('GET', path.replace('NS', 'namespaces/large'))).items.length
    expect(await count('/apis/autoscaling/v2/NS/horizontalpodautoscalers')).toBe(serviceNames.length)
    expect(await count('/apis/policy/v1/NS/poddisruptionbudgets')).toBe(serviceNames.length)
    expect(await count('/apis/networking.k8s.io/v1/NS/networkpolicies')).toBe(serviceNames.length + 3)
    expect(await count('/apis/postgresql.cnpg.io/v1/NS/clusters')).toBe(1)
    expect(await count('/apis/postgresql.cnpg.io/v1/NS/poolers')).toBe(1)
    expect(await count('/apis/cert-manager.io/v1/NS/certificates')).toBe(3)
    expect(await count('/apis/monitoring.coreos.com/v1/NS/servicemonitors')).toBe(1)
    expect(await count('/apis/monitoring.coreos.com/v1/NS/prometheusrules')).toBe(1)
    // On the second run the migration runs as a hook before the upgrade.
    await helm('upgrade', 'large', chart, ...at('large'), ...values, '--wait')
    expect((await status('large')).hooks.map(({ name }) => name)).toContain('large-opsplane-migrate-2')
  })

  test('uninstalling removes the pods but keeps the Secrets', async () => {
    await helm('uninstall', 'small', ...at('small'), '--wait')
    const { items } = await cluster.ask<Listed<Pod>>('GET', '/api/v1/namespaces/small/secrets')
    expect(items.map(({ metadata }) => metadata.name)).toContain('opsplane-settings')
    await waitFor(async () => (await podsOf('small')).length === 0)
  })
})
