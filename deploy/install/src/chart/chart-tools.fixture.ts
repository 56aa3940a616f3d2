import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/**
 * Tools that are built with Go from their modules, which takes minutes: only with TEST_CHART, as `npm run test:long`
 * sets.
 */
export const areToolsEnabled = process.env.TEST_CHART === '1'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
export const chart = join(root, 'helm/opsplane')
export const examples = readdirSync(join(chart, 'examples'))
export const kubernetes = { module: 'k8s.io/kubernetes@v1.34.1', version: '1.34.1' }
/** Projects whose custom resources the chart creates, in addition to those of Kubernetes. */
export const definitions = [
  { module: 'sigs.k8s.io/gateway-api@v1.4.0', folder: 'config/crd/standard' },
  { module: 'github.com/cert-manager/cert-manager@v1.19.1', folder: 'deploy/crds' },
  { module: 'github.com/cloudnative-pg/cloudnative-pg@v1.27.0', folder: 'config/crd/bases' },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
  },
]

const programs = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
  kwok: 'sigs.k8s.io/kwok/cmd/kwok@v0.7.0',
  'nats-server': 'github.com/nats-io/nats-server/v2@v2.14.2',
  promtool: 'github.com/prometheus/prometheus/cmd/promtool@v0.316.0',
  builder: 'go.opentelemetry.io/collector/cmd/builder@v0.165.0',
}

/** Cache of the built programs. */
export const cache = join(root, '.opsplane/chart-tools')

/** Runs a program until it exits; `output` contains both streams. */
export function run(
  program: string,
  args: readonly string[],
  { input, cwd }: { input?: string; cwd?: string } = {},
) {
  const env = { ...process.env, GOBIN: cache, GOFLAGS: '-p=1' }
  const options = { encoding: 'utf8', env, input, cwd, maxBuffer: 1e8 } as const
  const { status, stdout, stderr, error } = spawnSync(program, args, options)
  if (error) throw error
  return { status, output: `${stdout}${stderr}`, stdout }
}

/** Builds a program unless it is cached, and returns its path. */
export function goProgram(name: keyof typeof programs): string {
  mkdirSync(cache, { recursive: true })
  const { status, output } = run('go', ['install', programs[name]])
  if (status !== 0) throw new Error(output)
  return join(cache, name)
}

const Downloaded = z.object({ Dir: z.string() })
/** Folder of a module's files. */
export function downloadModule(module: string): string {
  const { output, stdout, status } = run('go', ['mod', 'download', '-json', module])
  if (status !== 0) throw new Error(output)
  return Downloaded.parse(JSON.parse(stdout)).Dir
}
