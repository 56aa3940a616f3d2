import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

/** What of jest's JSON report is counted. */
interface JestReport {
  numPassedTests: number
  numFailedTests: number
  /** Test files that could not even run. */
  numRuntimeErrorTestSuites: number
}

interface Count {
  passed: number
  failed: number
}

const REPORT = '.opsplane/test-report.json'
const LOW_PRIORITY = 10

// Tests wait for most of their time: what they leave of the machine is enough for it.
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

/** Behind everything else that runs, and without a word before its end. */
async function checkTypes(): Promise<{ ok: boolean; output: string }> {
  const child = spawn('npm', ['run', '--silent', 'types'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY)
  const [code, ...outputs] = await Promise.all([ended(child), text(child.stdout), text(child.stderr)])
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
  // A tear-down that fails, say, is in no test's result.
  return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed }
}

/** Runs a program in front of the user. */
function run(program: string, args: string[]): Promise<number> {
  return ended(spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true }))
}

/** Its exit code; a signal to us meanwhile is passed on, to its own children too, and then ends us. */
async function ended(child: ChildProcess): Promise<number> {
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
