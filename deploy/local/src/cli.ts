import { createWriteStream } from 'node:fs'
import { InstallationError } from '@opsplane/postgres'
import { createLogger, type LogLevel } from '@opsplane/runtime'
import { DirectoryInUseError } from '@opsplane/runtime/server-process'
import { Command, InvalidArgumentError } from 'commander'
import { makeReceiverCertificate } from './certificate.js'
import { runDemo } from './demo.js'
import { type Platform, startPlatform } from './platform.js'
import { LocalRunError } from './ports.js'
import { openState } from './state.js'

interface CliOptions {
  port?: number
  home: string
  json?: boolean
}

const started = performance.now()
const elapsed = () => `${((performance.now() - started) / 1000).toFixed(1)} s`

function parsePort(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new InvalidArgumentError('a port is 1 to 65535')
  return port
}

async function run(options: CliOptions, withDemo: boolean): Promise<void> {
  const state = openState(options.home)
  const say = (text: string) => (options.json ? undefined : console.log(text))
  const level = (process.env.LOG_LEVEL ?? 'info') as LogLevel
  const destination = createWriteStream(state.logFile, { flags: 'a', mode: 0o600 })
  const receiver = await makeReceiverCertificate(state.tlsDir)
  const stopping = stopOnSignal(say)
  const platform = await startPlatform({
    state,
    logFor: (service) => createLogger({ service, level, destination }),
    port: options.port ?? (process.env.PORT ? parsePort(process.env.PORT) : undefined),
    webhookCaFile: receiver.caFile,
    onStep: (step) => say(`  ${step}… (${elapsed()})`),
    onServerEnd: (text) => console.error(text),
  })
  stopping.use(platform)
  say(
    `\nOpsplane is ready after ${elapsed()}: ${platform.info.origin} (workspace "${platform.info.workspace}")`,
  )
  for (const notice of platform.notices) say(`\nNotice: ${notice}`)
  if (withDemo) await runDemo({ info: platform.info, certificate: receiver, say })
  if (options.json) console.log(JSON.stringify(platform.info))
  say(`
API            ${platform.info.baseUrl}
API reference  ${platform.info.baseUrl}/docs
Sign in        ${platform.info.email} / ${platform.info.password}
API key        in ${state.root}/local.json
Log            ${state.logFile}

Ctrl-C stops it; the data stays in ${state.root}.`)
}

/** The first signal stops the platform cleanly; a second one gives up waiting. */
function stopOnSignal(say: (text: string) => void) {
  let platform: Platform | undefined
  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) process.exit(130)
    stopping = true
    say(`\n${signal}: finishing what is in flight…`)
    try {
      await platform?.stop()
      say('Stopped.')
      process.exit(0)
    } catch (error) {
      console.error(error)
      process.exit(1)
    }
  }
  process.on('SIGINT', () => void stop('Ctrl-C'))
  process.on('SIGTERM', () => void stop('SIGTERM'))
  return {
    use: (running: Platform) => {
      platform = running
    },
  }
}

const program = new Command('opsplane-local')
  .description('Run Opsplane on this machine, in one process.')
  .showHelpAfterError('npm start -- --help tells what it takes.')
for (const [name, withDemo, description] of [
  ['start', false, 'start the platform and keep it running'],
  ['demo', true, 'start the platform and show its main job: an incident becomes a signed, verified delivery'],
] as const) {
  program
    .command(name)
    .description(description)
    .option('--port <port>', 'port of the API (or PORT); a free one by default', parsePort)
    .option('--home <folder>', 'where the state is kept', process.env.OPSPLANE_HOME ?? '.opsplane')
    .option('--json', 'print only the content of local.json, once ready')
    .action((options: CliOptions) => run(options, withDemo))
}

program.parseAsync().catch((error: unknown) => {
  const reported = [LocalRunError, InstallationError, DirectoryInUseError, InvalidArgumentError].some(
    (kind) => error instanceof kind,
  )
  console.error(reported && error instanceof Error ? `\n${error.message}` : error)
  process.exit(1)
})
