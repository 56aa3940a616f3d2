import {
  ApiError,
  type ArtifactTest,
  type ArtifactTestResult,
  type ArtifactTestRun,
  invalidField,
  type JsonValue,
  notFound,
  type RunArtifactTests,
  type TenantScope,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { compareOutcome, recordedFunctions, recordedHost, type TestOutcome } from '@opsplane/pack-format'
import type { HostFunctions } from '@opsplane/sandbox'
import type { Artifacts } from '../artifact/artifacts.js'
import type { ArtifactLoader, LoadedArtifact } from '../artifact/loader.js'

/** The result of running an artifact, as recorded in the execution log. */
type Recorded = TestOutcome & { id: string; duration_ms: number | null }

/** Runs an artifact with only recorded calls, as a separate execution. */
export type RunTest = (
  artifact: LoadedArtifact,
  options: {
    tenant: TenantScope
    input: JsonValue
    now: string
    requestId: string | null
    host: HostFunctions
    /** Value of `host.context.now`; default: the current time. */
    contextNow?: string | undefined
  },
) => Promise<Recorded>

export interface TestsParts {
  artifacts: Pick<Artifacts, 'record' | 'stored'>
  loading: Pick<ArtifactLoader, 'loadArtifact'>
  runTest: RunTest
}

export interface Tests {
  /**
   * Runs tests of an artifact sequentially, each as an execution. Throws `not_found`, and `validation_failed` for
   * unknown test names.
   */
  run(idOrSlug: string, selection: RunArtifactTests, meta: RequestMeta): Promise<ArtifactTestRun>
}

/** Tests not started by then fail: the caller waits at most this time plus the last test. */
const longestMs = 50_000

export function createTests({ artifacts, loading, runTest }: TestsParts): Tests {
  const runOne = async (
    artifact: LoadedArtifact,
    test: ArtifactTest,
    { tenant, now, requestId }: RequestMeta,
  ): Promise<ArtifactTestResult> => {
    const host = recordedHost(test)
    const runOptions = { tenant, input: test.input, now, requestId, host: recordedFunctions(host) }
    const ran = await attempt(() => runTest(artifact, { ...runOptions, contextNow: test.now }))
    const differences = [...compareOutcome(test, ran), ...host.differences()]
    return {
      ...{ name: test.name, passed: differences.length === 0, differences },
      ...{ durationMs: ran.duration_ms ?? 0, executionId: ran.id },
    }
  }

  return {
    async run(idOrSlug, { version, names }, { tenant, signal, ...meta }) {
      const { state } = await artifacts.record(idOrSlug, tenant)
      const artifact = await loading.loadArtifact(tenant, state.id, version)
      if (!artifact)
        throw version === undefined
          ? notFound()
          : invalidField('/version', 'unknown_version', `There is no version ${version} of ${state.slug}.`)
      const { tests } = await artifacts.stored(artifact.id, artifact.version, tenant)
      const endMs = performance.now() + longestMs
      const results: ArtifactTestResult[] = []
      for (const test of chosen(tests, names)) {
        signal().throwIfAborted()
        const late = performance.now() >= endMs
        results.push(late ? notRun(test) : await runOne(artifact, test, { tenant, signal, ...meta }))
      }
      return { artifactId: artifact.id, artifactVersion: artifact.version, ...summarize(results) }
    },
  }
}

/** An input rejected by the schema starts no execution; a test may expect exactly that. */
async function attempt(run: () => Promise<Recorded>): Promise<Omit<Recorded, 'id'> & { id: string | null }> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error
    const { code, details } = error
    const message = [error.message, ...details.map((detail) => `${detail.path} ${detail.message}`)].join(' ')
    return { id: null, duration_ms: 0, status: 'failed', output: null, error: { code, message }, logs: [] }
  }
}

function chosen(
  tests: readonly ArtifactTest[],
  names: readonly string[] | undefined,
): readonly ArtifactTest[] {
  const known = new Set(tests.map(({ name }) => name))
  const unknown = names?.findIndex((name) => !known.has(name)) ?? -1
  if (unknown !== -1)
    throw invalidField(`/names/${unknown}`, 'unknown_test', `There is no test named ${names?.[unknown]}.`)
  return names === undefined ? tests : tests.filter(({ name }) => names.includes(name))
}

const notRun = ({ name }: ArtifactTest): ArtifactTestResult => ({
  ...{ name, passed: false, durationMs: 0, executionId: null },
  differences: [{ path: '', message: 'it was not run: the ones before it took too long' }],
})

function summarize(results: ArtifactTestResult[]) {
  const passed = results.filter((result) => result.passed).length
  const durationMs = results.reduce((sum, result) => sum + result.durationMs, 0)
  return { passed, failed: results.length - passed, durationMs, results }
}
