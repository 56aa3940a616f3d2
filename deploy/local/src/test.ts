import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

/** The parts of jest's JSON report that are counted. */
interface JestReport {
  numPassedTests: number
  numFailedTests: number
  /** Test files that could not run. */
  numRuntimeErrorTestSuites: number
}

interface Count {
  passed: number
  failed: number
}

const REPORT = '.opsplane/test-report.json'
const LOW_PRIORITY = 10

// Runs in parallel: tests spend much of their time waiting, and leave enough CPU for the type check.
const types = checkTypes()
const counts = [
  await check('lint', 'node_modules/.bin/biome', ['ci', '.']),
  await check('migrations', process.execPath, ['deploy/local/dist/migration.js', '--check']),
  await runJest(process.argv.slice(2)),
  await reported(types),
]
const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
process.exitCode = failed > 0 ? 1 : 0
console.log(`${passed} passed, ${failed} failed`)

/** Runs a check that counts as one test. */
async function check(name: string, program: string, args: string[]): Promise<Count> {
  console.log(`\n${name}`)
  return countOf((await run(program, args)) === 0)
}

function countOf(ok: boolean): Count {
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/** Runs at low priority, and prints nothing before it ends. */
async function checkTypes(): Promise<{ ok: boolean; output: string }> {
  const child = spawn('npm', ['run', '--silent', 'types'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY)
  const [code, ...outputs] = await Promise.all([waitForExit(child), text(child.stdout), text(child.stderr)])
  return { ok: code === 0, output: outputs.join('').trim() }
}

async function reported(check: ReturnType<typeof checkTypes>): Promise<Count> {
  console.log('\ntypes')
  const { ok, output } = await check
  console.log(ok ? 'no errors' : output)
  return countOf(ok)
}

async function runJest(extraArgs: string[]): Promise<Count> {
  console.log('\ntests')
  rmSync(REPORT, { force: true })
  mkdirSync(dirname(REPORT), { recursive: true })
  const code = await run(process.execPath, [
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${REPORT}`,
    '--passWithNoTests',
    ...extraArgs,
  ])
  if (!existsSync(REPORT)) {
    console.log(`jest ended with code ${code} and without a report`)
    return { passed: 0, failed: 1 }
  }
  const report = JSON.parse(readFileSync(REPORT, 'utf8')) as JestReport
  const failed = report.numFailedTests + report.numRuntimeErrorTestSuites
  // A failing teardown, for example, is in no test's result.
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed }
}

/** Runs a program with its output in the terminal. */
function run(program: string, args: string[]): Promise<number> {
  return waitForExit(spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true }))
}

/**
 * Resolves with its exit code; a signal received meanwhile is passed on to the child and its own children, and then
 * ends this process.
 */
async function waitForExit(child: ChildProcess): Promise<number> {
  let received: NodeJS.Signals | undefined
  const forward = (signal: NodeJS.Signals) => {
    received = signal
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  }
  process.on('SIGINT', forward).on('SIGTERM', forward)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.off('SIGINT', forward).off('SIGTERM', forward)
  if (received) process.exit(128 + constants.signals[received])
  return code ?? 1
}
