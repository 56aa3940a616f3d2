import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readPack, runTest } from '@opsplane/pack-format'
import { createLogger } from '@opsplane/runtime'
import { type CodeRunner, createCodeRunner } from '@opsplane/sandbox'
import { availablePacks } from './available.js'

const available = availablePacks([fileURLToPath(new URL('../../packs', import.meta.url))])
const shipped = available.list().flatMap(({ name }) => {
  const content = available.find(name)
  return content ? readPack(content).artifacts : []
})

let runner: CodeRunner
beforeAll(() => {
  runner = createCodeRunner({ log: createLogger({ service: 'test', level: 'silent' }) })
})
afterAll(() => runner.close())

test('there are at least five shipped artifacts, each with tests', () => {
  expect(shipped.length).toBeGreaterThanOrEqual(5)
  expect(shipped.filter(({ tests }) => tests.length === 0)).toEqual([])
})

describe.each(shipped.map((artifact) => [artifact.slug, artifact] as const))('%s', (_, artifact) => {
  test.each(artifact.tests.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
    const { source, fileName } = artifact
    const compiled = await runner.compile({ tenant: 'test', source, fileName })
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
    const result = await runTest(runner, { ...artifact, code: compiled.code }, each)
    expect(result.differences).toEqual([])
  })
})
