import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { writeKindSchemas, writeResourceSchemas } from './schemas.fixture.js'

/** What is built by Go and read from its modules, in minutes: only where TEST_CHART says so, as `npm run test:long` does. */
const wanted = process.env.TEST_CHART === '1'
const programs = ['helm.sh/helm/v3/cmd/helm@v3.22.0', 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0']
const kubernetes = { module: 'k8s.io/kubernetes@v1.34.1', version: '1.34.1' }
const definitions = [
  { module: 'sigs.k8s.io/gateway-api@v1.4.0', folder: 'config/crd/standard' },
  { module: 'github.com/cert-manager/cert-manager@v1.19.1', folder: 'deploy/crds' },
  { module: 'github.com/cloudnative-pg/cloudnative-pg@v1.27.0', folder: 'config/crd/bases' },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
  },
]

const chart = fileURLToPath(new URL('../../../../helm/opsplane', import.meta.url))
const cache = fileURLToPath(new URL('../../../../.opsplane/chart-tools', import.meta.url))
const examples = readdirSync(join(chart, 'examples'))
const folder = mkdtempSync(join(tmpdir(), 'opsplane-chart-'))
const schemas = join(folder, 'schemas')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function run(program: string, args: readonly string[], input?: string) {
  const env = { ...process.env, GOBIN: cache, GOFLAGS: '-p=1' }
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env,
    input,
    maxBuffer: 1e8,
  })
  if (error) throw error
  return { status, output: `${stdout}${stderr}`, stdout }
}
const Downloaded = z.object({ Dir: z.string() })
const helm = (...args: string[]) => run(join(cache, 'helm'), args)
const template = (example: string, ...more: string[]) =>
  helm(
    ...['template', 'opsplane', chart, '--namespace', 'ops', '--kube-version', kubernetes.version],
    ...['--values', join(chart, 'examples', example), ...more],
  )
const folderOf = (module: string): string => {
  const { output, stdout, status } = run('go', ['mod', 'download', '-json', module])
  if (status !== 0) throw new Error(output)
  return Downloaded.parse(JSON.parse(stdout)).Dir
}

const described = wanted ? describe : describe.skip
described('the chart', () => {
  beforeAll(() => {
    mkdirSync(cache, { recursive: true })
    for (const program of programs) expect(run('go', ['install', program])).toMatchObject({ status: 0 })
    writeKindSchemas(join(folderOf(kubernetes.module), 'api/openapi-spec/swagger.json'), schemas)
    for (const { module, folder } of definitions)
      writeResourceSchemas(join(folderOf(module), folder), schemas)
  }, 3_600_000)

  test.each(examples)('lints with %s', (example) => {
    expect(helm('lint', chart, '--strict', '--values', join(chart, 'examples', example))).toMatchObject({
      status: 0,
    })
  })

  const validate = (manifests: string) =>
    run(
      join(cache, 'kubeconform'),
      [
        '-strict',
        '-summary',
        '-schema-location',
        join(schemas, '{{ .ResourceKind }}{{ .KindSuffix }}.json'),
        '-',
      ],
      manifests,
    )

  test.each(examples)('makes manifests that Kubernetes takes of %s', (example) => {
    const rendered = template(example)
    expect(rendered).toMatchObject({ status: 0 })
    const { status, output } = validate(rendered.stdout)
    expect(output).toMatch(/ Invalid: 0, Errors: 0, Skipped: 0/)
    expect(status).toBe(0)
  })

  test('and a field that Kubernetes does not know would show', () => {
    const misspelt = template('large.yaml')
      .stdout.replace('minReplicas:', 'leastReplicas:')
      .replace('instances:', 'servers:')
    expect(validate(misspelt).output).toMatch(/ Invalid: 2, /)
  })

  test('makes no Secret, and has each take what it needs from one that is there', () => {
    for (const example of examples) {
      const kinds = parseAllDocuments(template(example).stdout).map((document) => document.get('kind'))
      expect(kinds).toContain('Deployment')
      expect(kinds).not.toContain('Secret')
    }
  })

  test('refuses a wrong value and says which', () => {
    const { status, output } = template('small.yaml', '--set', 'services.itsm.replicas=two')
    expect(status).not.toBe(0)
    expect(output).toContain('replicas')
  })
})
