import { environments } from '@opsplane/contracts'
import { Command, CommanderError, Option } from 'commander'
import { addAccountCommands } from './commands/account.js'
import { addAdoptCommand } from './commands/adopt.js'
import { addAppCommands } from './commands/apps.js'
import { addAuditCommands } from './commands/audit.js'
import { addBackupCommands } from './commands/backup.js'
import { addDeadLetterCommands } from './commands/dead-letters.js'
import { addDeliveryCommands } from './commands/deliveries.js'
import { addEventCommands } from './commands/events.js'
import { addExecutionCommands } from './commands/executions.js'
import { addKeyCommands } from './commands/keys.js'
import { addLogCommands } from './commands/log.js'
import { addOperationCommands } from './commands/operations.js'
import { addPackCommands } from './commands/packs.js'
import { addReplayCommands } from './commands/replays.js'
import { addRunCommands } from './commands/runs.js'
import { addTopicCommands } from './commands/topics.js'
import { addWebhookCommands } from './commands/webhooks.js'
import { CliError } from './failure.js'
import type { Io } from './io.js'
import { duration } from './options.js'
import { oneLine } from './table.js'

/** Runs the CLI with the given arguments and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  try {
    await createProgram(io).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has already printed the error; a request for help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    io.err(`error: ${oneLine(messageOf(error))}\n`)
    return error instanceof CliError ? error.exitCode : 1
  }
}

function createProgram(io: Io): Command {
  const program = new Command('opsplane')
    .description('See and operate an Opsplane platform: webhooks, deliveries, topics, events, read models.')
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(withoutValue(text)),
      getOutHelpWidth: () => io.columns ?? 110,
      getErrHelpWidth: () => 110,
    })
    .showHelpAfterError('Add --help to see how it is used.')
    .configureHelp({ showGlobalOptions: true })
    .option('--json', 'print only the result, as JSON')
    .option('--profile <name>', 'use this stored login')
    .addOption(
      new Option(
        '--home <folder>',
        'use the platform started from this folder (OPSPLANE_HOME, .opsplane)',
      ).conflicts('profile'),
    )
    .addOption(new Option('--environment <name>', 'where in the workspace').choices(environments))
    .addOption(
      new Option('--timeout <duration>', 'how long one call to the API may take')
        .argParser(duration)
        .default(10_000, '10s'),
    )
    .addHelpText('after', help)
  addAccountCommands(program, io)
  addWebhookCommands(program, io)
  addDeliveryCommands(program, io)
  addReplayCommands(program, io)
  addRunCommands(program, io)
  addExecutionCommands(program, io)
  addAppCommands(program, io)
  addPackCommands(program, io)
  addTopicCommands(program, io)
  addEventCommands(program, io)
  addAuditCommands(program, io)
  addOperationCommands(program, io)
  addDeadLetterCommands(program, io)
  addBackupCommands(program, io)
  addAdoptCommand(program, io)
  addLogCommands(program, io)
  addKeyCommands(program, io)
  return program
}

const help = `
Examples:
  $ opsplane login --url https://opsplane.example.com --workspace acme --email ada@example.com
  $ opsplane webhooks list
  $ opsplane deliveries list wh_… --status failed --since 2h
  $ opsplane deliveries retry wh_… del_…
  $ opsplane topics tail orders --json | jq .payload

Credentials, the first that is there: --profile or --home; OPSPLANE_URL, OPSPLANE_API_KEY, OPSPLANE_WORKSPACE and
OPSPLANE_ENVIRONMENT; the login stored as "default"; the platform started here with npm start.
Exit codes: 0 done; 1 failed, or the API said no; 2 wrong usage or no credentials; 3 the platform cannot be
reached or is unavailable, so that trying again later may help.`

/** The value of an unknown option is not printed, because it may be a secret. */
const withoutValue = (text: string) => text.replace(/(unknown option '--?[^'=]*)=[\s\S]*'/, "$1'")

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
