import type { Execution, JsonValue, TenantScope } from '@opsplane/contracts'
import type { HostFunctions } from '@opsplane/sandbox'
import type { LoadedArtifact } from '../artifact/loader.js'
import type { Executions } from './executions.js'
import { validateInput } from './schemas.js'

export interface RunTestOptions {
  tenant: TenantScope
  input: JsonValue
  /** ISO instant of the request. */
  now: string
  requestId: string | null
  /** The recorded calls, which replace all host functions. */
  host: HostFunctions
  /** Value of `host.context.now`; default: the current time. */
  contextNow?: string | undefined
}

/**
 * Runs an artifact with only recorded calls, as a separate execution. Throws `validation_failed` for an
 * invalid input.
 */
export type RunTest = (artifact: LoadedArtifact, options: RunTestOptions) => Promise<Execution>

export function createRunTest({ run }: Pick<Executions, 'run'>): RunTest {
  return async (artifact, { host, contextNow, input, ...request }) => {
    const ran = await run({
      input: validateInput(artifact.inputSchema, input),
      ...{ ...request, artifact, type: 'test', trigger: { type: 'manual', id: null } },
      hostOverride: host,
      ...(contextNow !== undefined && { contextNow }),
    })
    // A request without a key is never a repetition.
    if (!ran) throw new Error('a test has begun no execution')
    return ran.execution
  }
}
