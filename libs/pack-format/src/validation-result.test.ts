import { expect, it } from '@jest/globals'
import { ArtifactLimits, ArtifactPermissions, ArtifactTest } from '@opsplane/contracts'
import type { CodeOutcome, CodeRunner } from '@opsplane/sandbox'
import { runTest, type TestedArtifact } from './testing/run-test.js'

const artifact: TestedArtifact = {
  ...{ slug: 'serials', code: '', inputSchema: null, outputSchema: null },
  permissions: ArtifactPermissions.parse({}),
  limits: ArtifactLimits.parse({}),
  rule: { events: [], validates: { tables: ['assets'], on: ['create'], whenUnavailable: 'fail_open' } },
}
const test = ArtifactTest.parse({
  name: 'refuses',
  input: { table: 'assets', operation: 'create', records: [{}] },
  expect: { outputIncludes: {} },
})
/** A code runner whose code returns this output. */
const giving = (output: CodeOutcome['output']): Pick<CodeRunner, 'run'> => ({
  run: async () => ({
    ...{ status: 'completed', output, error: null, logs: [], logsTruncated: false },
    ...{ durationMs: 1, cpuMs: 1, memoryPeakMb: 1 },
  }),
})

it.each([
  [{ faults: [] }],
  [{ faults: [{ index: 0, message: 'is wrong' }] }],
  [{ faults: [{ index: 0, column: 'serial', code: 'malformed', message: 'is wrong' }] }],
])('the test of a validation passes if the validation returns %j', async (output) => {
  expect(await runTest(giving(output), artifact, test)).toMatchObject({ passed: true, differences: [] })
})

it.each([
  [null, '/'],
  [{ valid: false }, '/faults'],
  [{ faults: [{ index: 1, message: 'is wrong' }] }, '/faults/0/index'],
  [{ faults: [{ index: 0, message: '' }] }, '/faults/0/message'],
  [{ faults: [{ index: 0, code: 'Not snake', message: 'is wrong' }] }, '/faults/0/code'],
  [{ faults: [], records: [{ serial: 'changed' }] }, 'records'],
])('the test of a validation fails if the validation returns %j', async (output, named) => {
  const { passed, differences } = await runTest(giving(output), artifact, test)
  expect(passed).toBe(false)
  expect(differences[0]?.message).toContain('invalid_output')
  expect(differences[0]?.message).toContain(named)
  const other = { ...artifact, rule: null }
  expect((await runTest(giving(output), other, test)).differences[0]?.message ?? '').not.toContain('faults')
})
