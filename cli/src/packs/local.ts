import type { ArtifactTestResult, PackProblem } from '@opsplane/contracts'
import { type PackArtifact, readPack, runTest } from '@opsplane/pack-format'
import { createLogger } from '@opsplane/runtime'
import { type CodeRunner, createCodeRunner } from '@opsplane/sandbox'
import type { FolderPack } from './folder.js'

/** Runs `work` with a sandbox on this machine, and closes the sandbox afterwards. */
export async function withSandbox<Result>(work: (runner: CodeRunner) => Promise<Result>): Promise<Result> {
  const runner = createCodeRunner({ log: createLogger({ service: 'cli', level: 'silent' }) })
  try {
    return await work(runner)
  } finally {
    await runner.close()
  }
}

/** Compile errors of a pack, in the form in which the platform reports them. */
export async function findCompileProblems(runner: CodeRunner, pack: FolderPack): Promise<PackProblem[]> {
  const problems: PackProblem[] = []
  for (const { source, fileName } of readPack(pack).artifacts) {
    if (source === '') continue
    const compiled = await runner.compile({ tenant: 'local', source, fileName })
    if (compiled.ok) continue
    for (const { message, line, column } of compiled.diagnostics)
      problems.push({ file: fileName, path: '', line, column, code: 'compile_error', message })
  }
  return problems
}

/**
 * Runs the tests of an artifact in the sandbox, one after another. Returns problems instead of results if the source does
 * not compile.
 */
export async function runTests(
  runner: CodeRunner,
  artifact: PackArtifact,
): Promise<{ results: ArtifactTestResult[]; problems: PackProblem[] }> {
  const { source, fileName } = artifact
  const compiled = await runner.compile({ tenant: 'local', source, fileName })
  if (!compiled.ok) {
    const code = 'compile_error'
    const problems = compiled.diagnostics.map((each) => ({ file: fileName, path: '', code, ...each }))
    return { results: [], problems }
  }
  const results: ArtifactTestResult[] = []
  for (const test of artifact.tests)
    results.push(await runTest(runner, { ...artifact, code: compiled.code }, test))
  return { results, problems: [] }
}
