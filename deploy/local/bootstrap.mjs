/**
 * Prepares a fresh machine and runs a command of the platform. It runs before anything is installed,
 * so it is plain JavaScript on Node's own modules. Every step is skipped when there is nothing to do.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMMANDS = {
  demo: ['deploy/local/bundle/cli.cjs', 'demo'],
  start: ['deploy/local/bundle/cli.cjs', 'start'],
  dev: ['deploy/local/dist/dev/main.js'],
  test: ['deploy/local/dist/test.js'],
  'test:long': ['libs/testing/dist/runs/long.js'],
  'test:repeat': ['libs/testing/dist/runs/repeat.js'],
  mutants: ['deploy/bundler/dist/mutants/main.js'],
  bench: ['bench/dist/index.js'],
  opsplane: ['cli/dist/main.js'],
  migration: ['deploy/local/dist/migration.js'],
  client: ['client/dist/generator/main.js'],
}
// They need no nats-server, or one that runs already.
const WITHOUT_NATS = ['opsplane', 'migration']
/** Of which programs bundles are made before; the others need none. */
const BUNDLED = {
  demo: 'local',
  start: 'local',
  dev: 'services',
  test: 'all',
  'test:long': 'all',
  'test:repeat': 'all',
  bench: 'services',
}
const USAGE = `Usage: node deploy/local/bootstrap.mjs <command> [arguments]

Installs the dependencies, compiles what has changed, makes sure there is a nats-server, then runs the command.

  demo       start the platform and show its main job
  start      start the platform
  dev        start the platform, and restart services when their sources change (dev --help)
  test       lint, check types and run all tests; arguments go to jest
  mutants    write faults into what is compiled and see the tests find them (mutants --help)
  bench      measure against the raw limits
  opsplane   the command line for operators (opsplane --help)
  migration  write the migration for a changed schema (migration --help)
  client     write the typed client's types for changed routes (client --help)

DATABASE_URL and NATS_URL name servers to use instead of local ones.
`
const CHROMIUMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const OLDEST_NODE = [20, 19]
const STAMP = 'node_modules/.opsplane-installed'
const TOOL_TIMEOUT_MS = 15 * 60_000
const SECOND_SIGNAL_MS = 1_000
const APT_OPTIONS = ['-qq', '-o', 'Acquire::http::Timeout=30', '-o', 'Acquire::Retries=1']

class StepError extends Error {
  constructor(message, output, advice) {
    super(message)
    this.output = output
    this.advice = advice
  }
}

const [command, ...args] = process.argv.slice(2)
// A script reads what the command prints, and nothing else. The tool for operators is called so often that its
// steps are only printed the first time, when they take long.
const quiet = command === 'opsplane'
const progress = quiet || args.includes('--json') ? process.stderr : process.stdout
if (command === undefined || command === '--help' || command === '-h' || !Object.hasOwn(COMMANDS, command)) {
  const asked = command === '--help' || command === '-h'
  process[asked ? 'stdout' : 'stderr'].write(USAGE)
  process.exit(asked ? 0 : 1)
}
process.chdir(fileURLToPath(new URL('../..', import.meta.url)))
try {
  checkNode()
  await step('dependencies', installDependencies)
  await step('compile', compileSources)
  if (BUNDLED[command]) await step('bundles', bundle)
  if (!WITHOUT_NATS.includes(command)) await step('nats-server', ensureNatsServer)
  if (command.startsWith('test')) await step('chromium', ensureChromium)
} catch (error) {
  if (!(error instanceof StepError)) throw error
  process.stderr.write(`\n${error.message}\n${error.output ? `\n${error.output}\n` : ''}\n${error.advice}\n`)
  process.exit(1)
}
run([...COMMANDS[command], ...args])

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return
  throw new StepError(
    `Node ${process.versions.node} is too old.`,
    '',
    `Install Node ${OLDEST_NODE.join('.')} or newer and run this again.`,
  )
}

/** Runs one step and prints one line for it: its name, what it did and how long that took. */
async function step(name, work) {
  if (quiet && existsSync(COMMANDS.opsplane[0])) return void (await work())
  const startedAt = Date.now()
  progress.write(`${name} … `)
  const outcome = await work()
  progress.write(`${outcome} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)\n`)
}

function installDependencies() {
  const hash = createHash('sha256').update(readFileSync('pnpm-lock.yaml')).digest('hex')
  const stamp = `${hash} node-${process.versions.node}\n`
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return 'unchanged'
  const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8'))
  // CI: pnpm then replaces a node_modules made by another tool without asking.
  const result = tool('npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], { CI: 'true' })
  if (!result.ok) {
    throw new StepError(
      'The dependencies could not be installed.',
      result.tail,
      'Check that the package registry can be reached (npm ping), then run this again.',
    )
  }
  writeFileSync(STAMP, stamp)
  return 'installed'
}

async function compileSources() {
  const { compile } = await import('../bundler/compile.mjs')
  try {
    const { compiled } = await compile()
    return compiled.length === 0 ? 'unchanged' : `${compiled.length} files`
  } catch (error) {
    throw new StepError(
      'The sources could not be compiled.',
      error.message,
      'Correct these errors, then run this again.',
    )
  }
}

/** What runs in processes of its own starts in a fraction of the time as one file. */
async function bundle() {
  const { bundlePrograms } = await import('../bundler/dist/index.js')
  try {
    const made = await bundlePrograms(BUNDLED[command])
    return made.length === 0 ? 'unchanged' : `${made.length} made`
  } catch (error) {
    throw new StepError('The bundles failed.', error.message, 'Correct these errors, then run this again.')
  }
}

async function ensureNatsServer() {
  if (process.env.NATS_URL) return 'not needed, NATS_URL is set'
  const { findNatsServer, natsServers, readServerVersion } = await import('../../libs/nats/dist/embedded.js')
  const found = () => {
    const path = findNatsServer()
    return path && readServerVersion(path)
  }
  const present = found()
  if (present) return present
  const { installNatsServer } = await import('./nats-server.mjs')
  const failures = installNatsServer({ tool, has, installPackages })
  const installed = found()
  if (installed) return `installed ${installed}`
  const tooOld = natsServers().map((path) => `${path} is too old: ${readServerVersion(path)}`)
  const docker = has('docker')
    ? ', or start one in a container (docker run -d -p 4222:4222 nats -js) and set NATS_URL=nats://127.0.0.1:4222'
    : ''
  throw new StepError(
    'There is no nats-server that is new enough, and none could be installed.',
    [...tooOld, ...failures].join('\n'),
    `Get version 2.14 or newer from nats.io and put it on the PATH${docker}. Then run this again.`,
  )
}

/** What the tests of apps drive; without one they are skipped. */
function ensureChromium() {
  const present = process.env.CHROMIUM ?? CHROMIUMS.find(has)
  if (present) return present
  const skipped = 'not there, so the tests in a browser are skipped (install chromium, or set CHROMIUM)'
  return installPackages(['chromium']) && has('chromium') ? 'installed' : skipped
}

/** Installs packages of Debian, where this is one and root's rights can be had; whether that worked. */
function installPackages(names) {
  if (!has('apt-get')) return false
  const install = () => asRoot([...APT_OPTIONS, 'install', '-y', '--no-install-recommends', ...names])
  return install().ok || (refreshPackageLists().ok && install().ok)
}

const refreshPackageLists = () => asRoot([...APT_OPTIONS, 'update'])

function asRoot(args) {
  return process.getuid?.() === 0 ? tool('apt-get', args) : tool('sudo', ['-n', 'apt-get', ...args])
}

function has(program) {
  return (process.env.PATH ?? '').split(delimiter).some((path) => path && existsSync(join(path, program)))
}

/** Runs a tool to its end and keeps its output, which is shown only when it fails. */
function tool(program, args, env = {}, cwd = process.cwd()) {
  const result = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: TOOL_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = [result.error?.message, result.stdout, result.stderr].filter(Boolean).join('\n').trim()
  return { ok: result.status === 0, output, tail: output.split('\n').slice(-15).join('\n') }
}

/**
 * Runs the command in a session of its own: a terminal's Ctrl-C, which reaches all of npm, this process
 * and the command, then arrives there once, from here. A second one, later, ends it at once.
 */
function run(nodeArgs) {
  const child = spawn(process.execPath, nodeArgs, { stdio: 'inherit', detached: true })
  let firstSignalAt
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (firstSignalAt === undefined) {
        firstSignalAt = Date.now()
        child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal)
      } else if (signal === 'SIGINT' && Date.now() - firstSignalAt > SECOND_SIGNAL_MS) {
        child.kill('SIGKILL')
      }
    })
  }
  child.once('error', (error) => {
    process.stderr.write(`${nodeArgs[0]} could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
}
