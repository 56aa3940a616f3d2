import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ArtifactTestRun, Execution } from '@opsplane/contracts'
import { type ApiClient, testPrincipal } from '@opsplane/testing'
import { buildPack, type PacksFixture, startPacks } from '../fixture/packs-fixture.js'

let packs: PacksFixture
let api: ApiClient
beforeAll(async () => {
  packs = await startPacks()
  api = packs.service.as(testPrincipal())
  const permissions = { topics: ['greetings'] }
  const tests = [
    { name: 'greets', input: { name: 'Ada' }, expect: { output: { text: 'Hello Ada' } } },
    { name: 'shouts', input: { name: 'Ada' }, expect: { output: { text: 'HELLO' } } },
    { name: 'publishes', input: { name: 'Ada' }, host: [{ call: 'publish' as const }] },
    { name: 'takes no number', input: 7, expect: { error: { code: 'validation_failed' } } },
  ]
  const input = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } }
  const pack = buildPack('1.0.0', { artifact: { tests, permissions, input } })
  await api.post('/sdk/packs/install', { ...pack, grant: permissions })
})
afterAll(() => packs?.stop())

const runTests = (body: object = {}) => api.post('/sdk/artifacts/greet/tests/run', body)

it('runs the tests of an artifact, and reports the differences of failed ones', async () => {
  const run = (await runTests()).data(ArtifactTestRun)
  expect(run).toMatchObject({ artifactVersion: 1, passed: 2, failed: 2 })
  expect(run.results.map(({ name, passed }) => [name, passed])).toEqual([
    ['greets', true],
    ['shouts', false],
    ['publishes', false],
    ['takes no number', true],
  ])
  expect(run.results[1]?.differences).toEqual([
    { path: 'output/text', message: 'is another value', expected: 'HELLO', actual: 'Hello Ada' },
  ])
  expect(run.results[2]?.differences).toMatchObject([{ path: 'host/0', expected: 1, actual: 0 }])
})

it('logs each test as a manual execution with its duration', async () => {
  const { results, durationMs } = (await runTests({ names: ['greets', 'publishes'] })).data(ArtifactTestRun)
  expect(durationMs).toBe(results.reduce((sum, result) => sum + result.durationMs, 0))
  const kept = await api.get('/origin/api/service-sdk/executions?executionType=test&limit=2')
  const [latest, before] = kept.page(Execution).items
  for (const [execution, result] of [
    [before, results[0]],
    [latest, results[1]],
  ] as const) {
    expect(execution).toMatchObject({ id: result?.executionId, trigger_type: 'manual', trigger_id: null })
    expect(execution?.duration_ms).toBe(result?.durationMs)
  }
})

it('runs only the named tests, and rejects unknown names', async () => {
  const run = (await runTests({ names: ['greets'] })).data(ArtifactTestRun)
  expect(run.results.map(({ name }) => name)).toEqual(['greets'])
  expect((await runTests({ names: ['greets', 'none'] })).error().details[0]).toMatchObject({
    path: '/names/1',
  })
  expect((await runTests({ version: 9 })).error().details).toMatchObject([
    { path: '/version', code: 'unknown_version' },
  ])
  const elsewhere = packs.service.as(testPrincipal())
  expect((await elsewhere.post('/sdk/artifacts/greet/tests/run', {})).status).toBe(404)
  const reader = packs.service.as(testPrincipal({ permissions: ['sdk:read'] }))
  expect((await reader.post('/sdk/artifacts/greet/tests/run', {})).error().code).toBe('insufficient_scope')
})
