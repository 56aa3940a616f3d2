import { runOpsplane } from '@opsplane/cli/run'
import { InstallationError } from '@opsplane/postgres'
import { ConfigError } from '@opsplane/runtime'
import { Command } from 'commander'
import { bootstrap } from './bootstrap.js'
import { demonstrate, finishLocal, prepareLocal } from './compose.js'
import { manifest } from './kubernetes.js'
import { migrate } from './migrate.js'

const print = (line: string) => void process.stdout.write(`${line}\n`)
const { env } = process

const program = new Command('opsplane')
  .description('What an installation of Opsplane needs in addition to its services.')
  .showHelpAfterError()

program
  .command('migrate')
  .description('bring the database of every service up to date (DATABASE_URL, DATABASE_PASSWORDS)')
  .action(() => migrate(env, print))

program
  .command('bootstrap')
  .description('make the first workspace and its owner (SETTINGS_URL, OPERATOR_PRIVATE_KEY, OWNER_EMAIL, …)')
  .action(() => bootstrap(env, print))

program
  .command('secrets')
  .description('print new Secrets of an installation for Kubernetes, to be applied once and kept')
  .requiredOption('--postgres <url>', 'superuser of the database, without a pooler between')
  .option('--services-postgres <url>', 'where services find it, if elsewhere: the user is replaced')
  .requiredOption('--nats <url>', 'the NATS servers, without a user')
  .option('--owner-email <address>', 'the first owner', 'owner@opsplane.local')
  .option('--prefix <name>', 'what the names of the Secrets begin with', 'opsplane')
  .action((options) => print(JSON.stringify(manifest(options), null, 2)))

const local = program.command('local').description('the steps of compose.yaml')
local
  .command('prepare <folder>')
  .description('make keys, and the environment of every service')
  .action((folder: string) => prepareLocal(folder, env))
local
  .command('finish <folder>')
  .description('make the first workspace, and say where to go')
  .action((folder: string) => finishLocal(folder, env, print))
local
  .command('demo <folder>')
  .description('send a signed webhook to a receiver in this container')
  .action((folder: string) => demonstrate(folder, env, print))

async function run(args: readonly string[]) {
  if (!program.commands.some((command) => command.name() === args[0])) {
    process.exitCode = await runOpsplane(args)
    return
  }
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const isReported = error instanceof ConfigError || error instanceof InstallationError
    process.stderr.write(`${isReported ? error.message : error instanceof Error ? error.stack : error}\n`)
    process.exitCode = 1
  }
}

void run(process.argv.slice(2))
