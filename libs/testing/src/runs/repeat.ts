import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { printOutcome, readResults, runTests, summaryFile } from './results.js'

/** Load on the machine during a run: arguments of stress-ng. */
const conditions = {
  quiet: undefined,
  cpu: ['--cpu', '2'],
  disk: ['--hdd', '1', '--hdd-bytes', '2g', '--temp-path', '.opsplane'],
} as const
type Condition = keyof typeof conditions
const plan: readonly Condition[] = ['quiet', 'quiet', 'cpu', 'cpu', 'disk', 'disk']

const usage = `Usage: npm run test:repeat -- [--summary] [--json] [arguments for jest]

Runs npm test six times, to find what is red by chance: two runs on the machine as it is, two under load on
both CPUs, two under load on the disk (stress-ng). Each result is added to ${summaryFile}; started again on the same commit, it
goes on with the runs that are missing.

  --summary    runs nothing: prints what this commit's runs have come to
  --json       prints the results as JSON
  -h, --help   prints this

Exits with 0 when all six runs of this commit are green.
`
const { values, positionals } = parseArgs({
  options: {
    summary: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
  allowPositionals: true,
})
if (values.help) process.stdout.write(usage)
else if (!values.summary && spawnSync('stress-ng', ['--version']).status !== 0) {
  process.stderr.write(
    'stress-ng was not found. Install it (Debian: apt-get install stress-ng) and run this again.\n',
  )
  process.exitCode = 2
} else await repeat()

async function repeat(): Promise<void> {
  if (!values.summary)
    for (const condition of missing())
      await underLoad(condition, () => runTests('fast', condition, positionals))
  printOutcome(readResults('fast'), missing(), values)
}

/** Runs of the plan that are missing for this commit. */
function missing(): Condition[] {
  const done = readResults('fast').map(({ part }) => part)
  return plan.filter((condition) => {
    const index = done.indexOf(condition)
    if (index >= 0) done.splice(index, 1)
    return index < 0
  })
}

/** Runs `work` while stress-ng puts the given load on the machine. */
async function underLoad(condition: Condition, work: () => Promise<unknown>): Promise<void> {
  const load = conditions[condition]
  let hog: ChildProcess | undefined
  if (load) {
    mkdirSync('.opsplane', { recursive: true })
    hog = spawn('stress-ng', [...load, '--quiet'], { stdio: 'ignore' })
  }
  const stop = () => hog?.kill('SIGTERM')
  process.once('exit', stop)
  try {
    await work()
  } finally {
    process.off('exit', stop)
    stop()
  }
}
