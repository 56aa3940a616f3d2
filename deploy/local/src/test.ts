import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'

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
const PACKAGE_PARENTS = ['libs', 'services', 'deploy', '.']

const counts = [
  await check('lint', 'node_modules/.bin/biome', ['ci', '.']),
  await check('migrations', process.execPath, ['deploy/local/dist/migration.js', '--check']),
  await runJest(process.argv.slice(2)),
]
const passed = counts.reduce((sum, count) => sum + count.passed, 0)
const failed = counts.reduce((sum, count) => sum + count.failed, 0)
process.exitCode = failed > 0 ? 1 : 0
console.log(`${passed} passed, ${failed} failed`)

/** Runs a check that counts as one test. */
async function check(name: string, program: string, args: string[]): Promise<Count> {
  console.log(`\n${name}`)
  const code = await run(program, args)
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

async function runJest(extraArgs: string[]): Promise<Count> {
  console.log('\ntests')
  removeStaleTests()
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

// The compiler leaves the output of a test that was renamed or removed, and jest would run it.
function removeStaleTests(): void {
  for (const dist of packageDirectories().map((directory) => join(directory, 'dist'))) {
    if (!existsSync(dist)) continue
    for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.test.js')) continue
      const source = join(dist, '..', 'src', name.replace(/js$/, 'ts'))
      if (!existsSync(source)) rmSync(join(dist, name))
    }
  }
}

function packageDirectories(): string[] {
  return PACKAGE_PARENTS.flatMap((parent) =>
    readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
      .map((entry) => join(parent, entry.name)),
  )
}

/** Runs a program in front of the user; a signal to us is passed on, to its workers too, and then ends us. */
async function run(program: string, args: string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true })
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
