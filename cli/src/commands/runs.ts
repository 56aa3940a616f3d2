import { Run, RunDetail, RunStatus } from '@opsplane/contracts'
import { type Command, Option } from 'commander'
import { connect, formatPath } from '../connect.js'
import type { Io } from '../io.js'
import { collect, count, instant, type PagingOptions, withPaging } from '../options.js'
import { tailRuns } from '../run-tail.js'
import { runColumns, runLine, runLines } from './run-text.js'

interface Filters {
  status?: string
  trigger?: string
  triggerId?: string
  workflow?: string
  since?: string
  until?: string
}

export function addRunCommands(program: Command, io: Io): void {
  const runs = program
    .command('runs')
    .description('find, inspect, retry and cancel runs of workflows')
    .addHelpText('after', '\nExamples:\n  $ opsplane runs list --status failed --since 2h')
  addReading(runs, io)
  addTail(runs, io)
  addActions(runs, io)
}

const queryOf = ({
  status,
  trigger: triggerType,
  triggerId,
  workflow: workflowId,
  since: from,
  until: to,
}: Filters) => ({
  ...{ status, triggerType, triggerId, workflowId, from, to },
})

const filtered = (command: Command) =>
  command
    .addOption(new Option('--status <status>', 'only these').choices(RunStatus.options))
    .option('--trigger <type>', 'only those started so: manual, event, schedule, …')
    .option('--trigger-id <id>', 'only those that this event, message of a topic or run started')
    .option('--workflow <workflow>', 'only of this workflow')

function addReading(runs: Command, io: Io): void {
  const time = instant(io.nowMs())
  withPaging(filtered(runs.command('list')))
    .description('list runs, newest first')
    .option('--since <time>', 'queued at this time or later: a time, or how long ago (15m, 2h, 7d ago)', time)
    .option('--until <time>', 'queued earlier', time)
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane runs list --workflow wf_… --status failed --since 1d --all',
    )
    .action(async (options: Filters & PagingOptions, command: Command) => {
      const connection = connect(io, command)
      const call = { path: '/runs', query: queryOf(options) }
      connection.printer.list(await collect(connection, Run, call, options), runColumns)
    })

  runs
    .command('show <run>')
    .description('show a run with its steps as a tree: status, duration and error of each')
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane runs show run_…\n  $ opsplane runs show run_… --json | jq .output',
    )
    .action(async (run: string, _options, command: Command) => {
      const { api, printer } = connect(io, command)
      const detail = await api.one(RunDetail, { path: formatPath`/runs/${run}` })
      printer.text(detail, runLines(detail))
    })
}

function addTail(runs: Command, io: Io): void {
  filtered(runs.command('tail'))
    .description('show runs as they are started')
    .option(
      '--since <time>',
      'begin there instead of now: a time, or how long ago (15m, 2h, 7d ago)',
      instant(io.nowMs()),
    )
    .option('--limit <n>', 'end after so many', count)
    .addHelpText(
      'after',
      `
It asks every second, and shows each run once, as it is by then. It goes on when the platform was away for a while.
Ctrl-C ends it.

Examples:
  $ opsplane runs tail --workflow wf_…
  $ opsplane runs tail --since 15m --json | jq -r .id`,
    )
    .action(async ({ since, limit, ...filters }: Filters & { limit?: number }, command: Command) => {
      const { api, printer } = connect(io, command)
      let left = limit ?? Number.POSITIVE_INFINITY
      const onRun = (run: Run) => {
        printer.line(run, runLine(run))
        return --left > 0
      }
      const signal = io.interruption()
      await tailRuns({ api, query: queryOf(filters), since, signal, say: printer.say, onRun })
    })
}

function addActions(runs: Command, io: Io): void {
  const act = async (path: string, body: object, command: Command) => {
    const { api, printer } = connect(io, command)
    const run = await api.one(Run, { method: 'POST', path, body })
    printer.one(
      run,
      runColumns.map(({ title, value }) => [title, value(run)]),
    )
  }

  runs
    .command('retry <run>')
    .description('go on where a run failed or was cut off; what succeeded is kept')
    .option('--from <step>', 'do this top-level step and all that follow again')
    .addHelpText(
      'after',
      '\nExamples:\n  $ opsplane runs retry run_…\n  $ opsplane runs retry run_… --from notify',
    )
    .action((run: string, { from }: { from?: string }, command: Command) =>
      act(formatPath`/runs/${run}/retry`, { from }, command),
    )

  runs
    .command('cancel <run>')
    .description('stop a run, and the runs it waits for')
    .option('--reason <text>', 'why, for its history')
    .addHelpText('after', "\nExamples:\n  $ opsplane runs cancel run_… --reason 'Started by mistake'")
    .action((run: string, { reason }: { reason?: string }, command: Command) =>
      act(formatPath`/runs/${run}/cancel`, { reason }, command),
    )
}
