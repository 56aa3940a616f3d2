import {
  ArtifactKind,
  Execution,
  ExecutionStatus,
  ExecutionTrigger,
  ExecutionType,
  parseExact,
} from '@opsplane/contracts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Call } from '../api.js'
import { connect, formatPath } from '../connect.js'
import { tailExecutions } from '../execution-tail.js'
import { CliError } from '../failure.js'
import type { Io } from '../io.js'
import { collect, count, type PagingOptions, withPaging } from '../options.js'
import { executionColumns, executionLine, executionLines } from './execution-text.js'

interface Filters {
  artifact?: string
  artifactType?: string
  status?: string
  failed?: true
  succeeded?: true
  type?: string
  trigger?: string
  triggerId?: string
  record?: string
  table?: string
}

/** Path relative to the origin instead of the API. */
const log = '/api/service-sdk'
/** Maximum duration of an execution, in milliseconds. */
const longestMs = 300_000

export function addExecutionCommands(program: Command, io: Io): void {
  const executions = program
    .command('executions')
    .description('find, inspect, follow and replay executions of artifacts')
    .addHelpText('after', '\nExamples:\n  $ opsplane executions list --failed --artifact sync-assets')
  addReading(executions, io)
  addTail(executions, io)
  addReplay(executions, io)
}

/** The call that lists executions with these filters. */
const callOf = ({ artifact, failed, succeeded, type, trigger, record, table, ...same }: Filters): Call => ({
  ofOrigin: true,
  path:
    artifact === undefined ? `${log}/executions` : `${log}${formatPath`/artifacts/${artifact}/executions`}`,
  query: {
    artifactType: same.artifactType,
    status: same.status,
    success: succeeded ? 'true' : failed && 'false',
    executionType: type,
    triggerType: trigger,
    triggerId: same.triggerId,
    recordId: record,
    tableName: table,
  },
})

const filtered = (command: Command) =>
  command
    .option('--artifact <artifact>', 'only of this artifact, by its id or slug')
    .addOption(new Option('--status <status>', 'only these').choices(ExecutionStatus.options))
    .addOption(new Option('--failed', 'only those that have failed or timed out').conflicts('status'))
    .addOption(new Option('--succeeded', 'only those that have completed').conflicts(['status', 'failed']))
    .addOption(
      new Option('--artifact-type <kind>', 'only of artifacts of this kind, whatever they were run as')
        .choices(ArtifactKind.options)
        .conflicts('artifact'),
    )
    .addOption(new Option('--type <type>', 'only what was run as').choices(ExecutionType.options))
    .addOption(new Option('--trigger <type>', 'only those begun so').choices(ExecutionTrigger.options))
    .option('--trigger-id <id>', 'only of this run, job or event')
    .option('--record <id>', 'only those that a record triggered, or that touched it')
    .option('--table <slug>', 'the same of any record of a table, or of a kind such as incident')

function addReading(executions: Command, io: Io): void {
  withPaging(filtered(executions.command('list')))
    .description('list executions, newest first')
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane executions list --failed\n  $ opsplane executions list --record inc_… --json | jq -r .[].id',
    )
    .action(async ({ limit, all, ...filters }: Filters & PagingOptions, command: Command) => {
      const connection = connect(io, command)
      const paging = { limit, ...(all && { all }) }
      const found = await collect(connection, Execution, callOf(filters), paging)
      connection.printer.list(found, executionColumns)
    })

  executions
    .command('show <execution>')
    .description('show what an execution was given, what came of it, and what it logged')
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane executions show exec_…\n  $ opsplane executions show exec_… --json | jq .output',
    )
    .action(async (id: string, _options, command: Command) => {
      const { api, printer } = connect(io, command)
      const path = `${log}${formatPath`/executions/${id}`}`
      const execution = await api.one(Execution, { ofOrigin: true, path })
      printer.text(execution, executionLines(execution))
    })
}

function addTail(executions: Command, io: Io): void {
  filtered(executions.command('tail'))
    .description('show executions as they are begun')
    .option('--limit <n>', 'end after so many', count)
    .addHelpText(
      'after',
      `
It asks every second, and shows each execution once, as it is by then. It goes on when the platform was away for a
while. Ctrl-C ends it.

Examples:
  $ opsplane executions tail --artifact sync-assets
  $ opsplane executions tail --failed --json | jq -r .error.message`,
    )
    .action(async ({ limit, ...filters }: Filters & { limit?: number }, command: Command) => {
      const { api, printer } = connect(io, command)
      let left = limit ?? Number.POSITIVE_INFINITY
      const onExecution = (execution: Execution) => {
        printer.line(execution, executionLine(execution))
        return --left > 0
      }
      const signal = io.interruption()
      await tailExecutions({ api, call: callOf(filters), signal, say: printer.say, onExecution })
    })
}

/** Parses an option value as JSON. */
function json(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    throw new InvalidArgumentError('it has to be JSON.')
  }
}

interface ReplayOptions {
  input?: unknown
  artifactVersion?: number
  async?: true
}

function addReplay(executions: Command, io: Io): void {
  executions
    .command('replay <execution>')
    .description('run an artifact again as it was run then; the original stays as it is')
    .option('--input <json>', 'another input than the original one', json)
    .option('--artifact-version <n>', 'another version than the one that ran', count)
    .option('--async', 'do not wait for what comes of it')
    .addHelpText(
      'after',
      `
Where it fails or times out as well, the exit code is 1.

Examples:
  $ opsplane executions replay exec_…
  $ opsplane executions replay exec_… --input '{"incidentId":"inc_…"}' --artifact-version 3`,
    )
    .action(async (id: string, options: ReplayOptions, command: Command) => {
      const { api, printer } = connect(io, command)
      const execution = await api.one(Execution, {
        ...{ ofOrigin: true, method: 'POST', path: `${log}${formatPath`/executions/${id}/replay`}` },
        body: {
          mode: options.async ? 'async' : 'sync',
          ...(options.input !== undefined && { input: options.input }),
          ...(options.artifactVersion !== undefined && { version: options.artifactVersion }),
        },
        ...(!options.async && { extraTimeMs: longestMs }),
      })
      printer.text(execution, executionLines(execution))
      if (execution.status === 'failed' || execution.status === 'timeout')
        throw new CliError(`The replay has ended as ${execution.status}.`, 1)
    })
}
