import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** One test run, a line of the summary file. */
export interface RunResult {
  /** Commit of the work tree; `dirty` if it had uncommitted changes. */
  commit: string
  dirty: boolean
  tier: 'fast' | 'long'
  /** The shard, such as `3/8`, or the load on the machine, such as `quiet`. */
  part: string
  passed: number
  failed: number
  /** Full names of the tests that failed. */
  failures: string[]
  seconds: number
  startedAt: string
}

export const summaryFile = '.opsplane/test-runs.jsonl'
const reportFile = '.opsplane/test-report.json'
const program = 'deploy/local/dist/test.js'

/** The fields of Jest's JSON report used here. */
interface JestReport {
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[]
}

/** Results of the current commit, oldest first; empty if there are uncommitted changes. */
export function readResults(tier: RunResult['tier'], commit = present()): RunResult[] {
  if (!existsSync(summaryFile)) return []
  const lines = readFileSync(summaryFile, 'utf8').split('\n').filter(Boolean)
  return lines
    .map((line) => JSON.parse(line) as RunResult)
    .filter((each) => each.tier === tier && each.commit === commit.commit && each.dirty === commit.dirty)
}

/**
 * Runs the tests with visible output and appends the result to the summary file. A
 * signal to this process ends it without one.
 */
export async function runTests(
  tier: RunResult['tier'],
  part: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<RunResult> {
  const startedAt = new Date()
  const begun = performance.now()
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...env },
  })
  let tail = ''
  child.stdout.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk)
    tail = (tail + chunk.toString()).slice(-500)
  })
  await once(child, 'close')
  const counts = /(\d+) passed, (\d+) failed\s*$/.exec(tail)
  const result: RunResult = {
    ...present(),
    ...{ tier, part },
    passed: Number(counts?.[1] ?? 0),
    // A run that ended without its last line counts as failed.
    failed: Number(counts?.[2] ?? 1),
    failures: counts?.[2] === '0' ? [] : failures(),
    seconds: Math.round((performance.now() - begun) / 1000),
    startedAt: startedAt.toISOString(),
  }
  mkdirSync(dirname(summaryFile), { recursive: true })
  appendFileSync(summaryFile, `${JSON.stringify(result)}\n`)
  return result
}

function failures(): string[] {
  if (!existsSync(reportFile)) return []
  const { testResults } = JSON.parse(readFileSync(reportFile, 'utf8')) as JestReport
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((each) => each.status === 'failed').map(({ fullName }) => fullName)
    return failed.length > 0 || status !== 'failed' ? failed : [name]
  })
}

function present(): Pick<RunResult, 'commit' | 'dirty'> {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  return { commit: git('rev-parse', 'HEAD'), dirty: git('status', '--porcelain') !== '' }
}

/** Results as lines for people. */
export function describeResults(results: readonly RunResult[]): string {
  const line = ({ part, passed, failed, seconds, commit, dirty, failures }: RunResult) =>
    [
      `${part.padEnd(8)} ${failed === 0 ? 'green' : 'RED  '} ${passed} passed, ${failed} failed, ${seconds} s, ` +
        `${commit.slice(0, 8)}${dirty ? ' with changes' : ''}`,
      ...failures.map((name) => `         ${name}`),
    ].join('\n')
  return results.map(line).join('\n')
}

/**
 * Prints the results of a commit's runs and the missing ones. Sets the exit code:
 * 0 if none is missing and all are green.
 */
export function printOutcome(
  results: readonly RunResult[],
  missing: readonly string[],
  { json }: { json?: boolean | undefined },
): void {
  const rest = missing.length > 0 ? `not run on this commit: ${missing.join(', ')}` : ''
  const text = [describeResults(results), rest].filter(Boolean).join('\n')
  process.stdout.write(`${json ? JSON.stringify({ results, missing }) : text}\n`)
  process.exitCode = missing.length === 0 && results.every(({ failed }) => failed === 0) ? 0 : 1
}
