import type { ArtifactTestResult, PackProblem } from '@opsplane/contracts'
import { type PackArtifact, readPack, runTest } from '@opsplane/pack-format'
import { createLogger } from '@opsplane/runtime'
import { type CodeRunner, createCodeRunner } from '@opsplane/sandbox'
import type { FolderPack } from './folder.js'

/** A sandbox on this machine, for as long as `work` takes. */
export async function withSandbox<Result>(work: (runner: CodeRunner) => Promise<Result>): Promise<Result> {
  const runner = createCodeRunner({ log: createLogger({ service: 'cli', level: 'silent' }) })
  try {
    return await work(runner)
  } finally {
    await runner.close()
  }
}

/** What of a pack does not compile, as the platform would say it. */
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

/** Runs the tests of an artifact in the sandbox, one after the other. Gives problems in place of results where it does not compile. */
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
