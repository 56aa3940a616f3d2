import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import {
  areToolsEnabled,
  chart,
  definitions,
  downloadModule,
  examples,
  goProgram,
  kubernetes,
  run,
} from './chart-tools.fixture.js'
import { template as rendered } from './render.fixture.js'
import { kubeconform, writeKindSchemas, writeResourceSchemas } from './schemas.fixture.js'

const folder = mkdtempSync(join(tmpdir(), 'opsplane-chart-'))
const schemas = join(folder, 'schemas')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const described = areToolsEnabled ? describe : describe.skip
described('the chart', () => {
  let programs: Record<'helm' | 'kubeconform', string>
  beforeAll(() => {
    programs = { helm: goProgram('helm'), kubeconform: goProgram('kubeconform') }
    writeKindSchemas(join(downloadModule(kubernetes.module), 'api/openapi-spec/swagger.json'), schemas)
    for (const { module, folder } of definitions)
      writeResourceSchemas(join(downloadModule(module), folder), schemas)
  })

  const helm = (...args: string[]) => run(programs.helm, args)
  const template = (example: string, ...more: string[]) => rendered(programs.helm, example, ...more)

  test.each(examples)('passes helm lint with %s', (example) => {
    expect(helm('lint', chart, '--strict', '--values', join(chart, 'examples', example))).toMatchObject({
      status: 0,
    })
  })

  const validate = (manifests: string) => kubeconform(programs.kubeconform, schemas, manifests)

  test.each(examples)('renders manifests that are valid for Kubernetes from %s', (example) => {
    const { stdout, ...made } = template(example)
    expect(made).toMatchObject({ status: 0 })
    const { status, output } = validate(stdout)
    expect(output).toMatch(/ Invalid: 0, Errors: 0, Skipped: 0/)
    expect(status).toBe(0)
  })

  test('the validation rejects fields that Kubernetes does not define', () => {
    const misspelt = template('large.yaml')
      .stdout.replace('minReplicas:', 'leastReplicas:')
      .replace('instances:', 'servers:')
    expect(validate(misspelt).output).toMatch(/ Invalid: 2, /)
  })

  test('renders no Secret', () => {
    for (const example of examples) {
      const kinds = parseAllDocuments(template(example).stdout).map((document) => document.get('kind'))
      expect(kinds).toContain('Deployment')
      expect(kinds).not.toContain('Secret')
    }
  })

  test('rejects an invalid value and names it', () => {
    const { status, output } = template('small.yaml', '--set', 'services.itsm.replicas=two')
    expect(status).not.toBe(0)
    expect(output).toContain('replicas')
  })
})
