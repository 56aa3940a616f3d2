import { join, resolve } from 'node:path'
import { baseConfig, createLogger, parseConfig } from '@opsplane/runtime'
import { Command } from 'commander'
import { makeReceiverCertificate } from './certificate.js'
import { runDemo } from './demo.js'
import { startPlatform } from './platform.js'
import { parsePort } from './ports.js'
import { type LogFile, openLogFile } from './start/log-file.js'
import { startProblem } from './start/problems.js'
import { stopOnSignal } from './start/stop-on-signal.js'
import { type LocalState, openState } from './state.js'

interface CliOptions {
  port?: number
  home: string
  json?: boolean
}

const started = performance.now()
const elapsed = () => `${((performance.now() - started) / 1000).toFixed(1)} s`

/** Prints errors as sentences, and writes the stack to the log. */
async function run(options: CliOptions, withDemo: boolean): Promise<void> {
  let log: LogFile | undefined
  const root = resolve(options.home)
  try {
    const state = openState(root)
    log = openLogFile(state.logFile, (text) => console.error(text))
    await runWith(options, withDemo, state, log)
  } catch (error) {
    console.error(
      `\n${startProblem(error, { root, logFile: join(root, 'opsplane.log'), environment: process.env })}`,
    )
    if (log)
      createLogger({ service: 'local', level: 'error', destination: log }).error(
        { err: error },
        'could not start',
      )
    await log?.flushed()
    process.exit(1)
  }
}

async function runWith(
  options: CliOptions,
  withDemo: boolean,
  state: LocalState,
  destination: LogFile,
): Promise<void> {
  const { logLevel: level } = parseConfig(baseConfig.pick({ logLevel: true }), process.env)
  const print = (text: string) => (options.json ? undefined : console.log(text))
  const receiver = await makeReceiverCertificate(state.tlsDir)
  const stopping = stopOnSignal(print)
  const platform = await startPlatform({
    state,
    logFor: (service) => createLogger({ service, level, destination }),
    port: options.port ?? (process.env.PORT ? parsePort(process.env.PORT) : undefined),
    webhookCaFile: receiver.caFile,
    onStep: (step) => print(`  ${step}… (${elapsed()})`),
    onServerEnd: (text) => console.error(text),
  })
  stopping.use(platform)
  print(
    `\nOpsplane is ready after ${elapsed()}: ${platform.info.origin} (workspace "${platform.info.workspace}")`,
  )
  for (const notice of platform.notices) print(`\nNotice: ${notice}`)
  if (withDemo) await runDemo({ info: platform.info, certificate: receiver, say: print })
  if (options.json) console.log(JSON.stringify(platform.info))
  print(`
Console        ${platform.info.origin}
API            ${platform.info.baseUrl}
API reference  ${platform.info.baseUrl}/docs
Sign in        ${platform.info.email} / ${platform.info.password}
API key        in ${state.root}/local.json
Log            ${state.logFile}

Ctrl-C stops it; the data stays in ${state.root}.`)
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

void program.parseAsync()
