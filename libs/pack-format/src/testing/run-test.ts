import type { ArtifactTest, ArtifactTestResult, JsonValue } from '@opsplane/contracts'
import { compileSchema } from '@opsplane/json-schema'
import { type CodeOutcome, type CodeRunner, HostError, type HostFunctions } from '@opsplane/sandbox'
import { resolveHostFunctions } from '../host-functions.js'
import type { PackArtifact } from '../read-pack.js'
import { findValidationFault } from '../validation-result.js'
import { compareOutcome } from './compare-outcome.js'
import { type RecordedHost, recordedHost } from './recorded-host.js'

/** The compiled artifact under test. */
export type TestedArtifact = Pick<
  PackArtifact,
  'slug' | 'permissions' | 'limits' | 'inputSchema' | 'outputSchema' | 'rule'
> & { code: string }

/** Host functions for the sandbox that answer from the recording. */
export const recordedFunctions =
  ({ answer }: Pick<RecordedHost, 'answer'>): HostFunctions =>
  async ({ name, args }) => {
    const answered = answer(name, args[0])
    if ('returns' in answered) return answered.returns
    throw new HostError(answered.throws.code, answered.throws.message)
  }

/** Runs a test on this machine like the platform does: in the sandbox, with only its recorded calls to the outside. */
export async function runTest(
  runner: Pick<CodeRunner, 'run'>,
  artifact: TestedArtifact,
  test: ArtifactTest,
): Promise<ArtifactTestResult> {
  const host = recordedHost(test)
  const outcome = await outcomeOf(runner, artifact, test, host)
  const differences = [...compareOutcome(test, outcome), ...host.differences()]
  return {
    ...{ name: test.name, passed: differences.length === 0, differences, executionId: null },
    durationMs: Math.round(outcome.durationMs),
  }
}

type Outcome = Pick<CodeOutcome, 'status' | 'output' | 'error' | 'logs' | 'durationMs'>

async function outcomeOf(
  runner: Pick<CodeRunner, 'run'>,
  artifact: TestedArtifact,
  test: ArtifactTest,
  host: RecordedHost,
): Promise<Outcome> {
  const { slug, code, limits, permissions, inputSchema, outputSchema, rule } = artifact
  const input = withDefaults(inputSchema, test.input)
  const wrongInput = faultOf(inputSchema, input)
  if (wrongInput !== undefined)
    return failed('validation_failed', `The input is not what it takes: ${wrongInput}`)
  const outcome = await runner.run({
    ...{ tenant: 'test', code, limits, args: [input] },
    context: {
      executionId: 'exec_00000000000000000000000000',
      artifact: { slug, version: 1 },
      trigger: { type: 'manual', id: null },
      workspaceId: 'ws_00000000000000000000000000',
      environment: 'development',
      now: test.now ?? new Date().toISOString(),
    },
    ...resolveHostFunctions(permissions),
    host: recordedFunctions(host),
  })
  if (outcome.status !== 'completed') return outcome
  const { output } = outcome
  const wrongOutput = faultOf(outputSchema, output) ?? findValidationFault(rule, { input, output })
  if (wrongOutput === undefined) return outcome
  const { logs, durationMs } = outcome
  return {
    ...failed('invalid_output', `The output is not what the artifact says it gives: ${wrongOutput}`),
    ...{ logs, durationMs },
  }
}

type Schema = PackArtifact['inputSchema']

const compiledOf = (schema: Schema) => {
  const compiled = schema === null ? undefined : compileSchema(schema)
  return compiled && 'schema' in compiled ? compiled.schema : undefined
}

/** Applies the defaults of the schema. The result is JSON, because the value is. */
const withDefaults = (schema: Schema, value: JsonValue) =>
  (compiledOf(schema)?.withDefaults(value) ?? value) as JsonValue

function faultOf(schema: Schema, value: unknown): string | undefined {
  const [fault] = compiledOf(schema)?.check(value) ?? []
  return fault && `${fault.path || '/'} ${fault.message}`
}

const failed = (code: string, message: string): Outcome => ({
  ...{ status: 'failed', output: null, error: { code, message, stack: '' } },
  ...{ logs: [], durationMs: 0 },
})
