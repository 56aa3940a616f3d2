import type { Execution, JsonValue, TenantScope } from '@opsplane/contracts'
import type { HostFunctions } from '@opsplane/sandbox'
import type { LoadedArtifact } from '../artifact/loader.js'
import type { Executions } from './executions.js'
import { validateInput } from './schemas.js'

export interface RunTestOptions {
  tenant: TenantScope
  input: JsonValue
  /** ISO: when it is asked for. */
  now: string
  requestId: string | null
  /** In place of everything outside: the recorded calls. */
  host: HostFunctions
  /** What `host.context.now` says; the present unless given. */
  contextNow?: string | undefined
}

/** Runs an artifact with nothing but recorded calls outside, as an execution of its own. Throws `validation_failed` for its input. */
export type RunTest = (artifact: LoadedArtifact, options: RunTestOptions) => Promise<Execution>

export function createRunTest({ run }: Pick<Executions, 'run'>): RunTest {
  return async (artifact, { host, contextNow, input, ...request }) => {
    const ran = await run({
      input: validateInput(artifact.inputSchema, input),
      ...{ ...request, artifact, type: 'test', trigger: { type: 'manual', id: null } },
      hostOverride: host,
      ...(contextNow !== undefined && { contextNow }),
    })
    // Without a key there is nothing it could have been begun by before.
    if (!ran) throw new Error('a test has begun no execution')
    return ran.execution
  }
}
