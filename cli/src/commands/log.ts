import { type Command, InvalidArgumentError } from 'commander'
import { printerFor } from '../connect.js'
import type { Io } from '../io.js'
import type { Column } from '../table.js'
import { type OperationOptions, type Ops, serversHelp, withTask } from './with-ops.js'

type Result = Awaited<ReturnType<Ops['detachMonths']>>[number]

/** Works on the servers of the platform, not through the API. */
export function addLogCommands(program: Command, io: Io): void {
  const group = program
    .command('log')
    .description('months of the event logs: what they take, and moving old ones to files')
  const command = (name: string, description: string, help: string) =>
    group
      .command(name)
      .description(description)
      .option('--service <name>', 'only this service')
      .option('--database-url <url>', 'Postgres, as the owner of the tables (DATABASE_URL)')
      .addHelpText('after', `\n${help}\n\n${serversHelp}`)

  command(
    'months',
    'the months of each log, with their events and bytes',
    'Counts what there is, so not for polling.',
  ).action((options: OperationOptions, command: Command) =>
    withTask(io, command, options, async (ops, task) =>
      printerFor(io, command).list(await ops.monthsOfLogs(task), [
        { title: 'service', value: ({ service }) => service },
        { title: 'month', value: ({ month }) => month },
        { title: 'where', value: ({ isDetached }) => (isDetached ? 'file' : 'database') },
        { title: 'events', value: ({ events }) => events },
        { title: 'positions', value: ({ first, last }) => (first === null ? '-' : `${first} to ${last}`) },
        { title: 'bytes', value: ({ bytes }) => bytes },
      ]),
    ),
  )

  command('detach', 'move old months to files, while everything runs', detachHelp)
    .requiredOption('--before <month>', 'all months before this one, such as 2026-09', month)
    .requiredOption('--to <folder>', 'where the files are kept')
    .action((options: OperationOptions & { before: string; to: string }, command: Command) =>
      withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(
          await ops.detachMonths({ ...task, before: options.before, folder: options.to }),
          columns,
        ),
      ),
    )

  command(
    'attach',
    'put the months of files back into their logs',
    'The files stay, and may be deleted afterwards.',
  )
    .requiredOption('--from <folder>', 'where the files are')
    .action((options: OperationOptions & { from: string }, command: Command) =>
      withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(await ops.attachMonths({ ...task, folder: options.from }), columns),
      ),
    )

  command('audit', 'compare the events in files of detached months with the audit log', auditHelp)
    .requiredOption('--from <folder>', 'where the files are')
    .action((options: OperationOptions & { from: string }, command: Command) =>
      withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(await ops.auditMonths({ ...task, folder: options.from }), columns),
      ),
    )
}

const columns: Column<Result>[] = [
  { title: 'service', value: ({ service }) => service },
  { title: 'month', value: ({ month }) => month },
  { title: 'events', value: ({ events }) => events },
  { title: 'bytes', value: ({ bytes }) => bytes },
]

function month(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('a month reads like 2026-09')
}

const detachHelp = `A month goes once its file is whole and has all of its events; versions and ids stay guarded. Read models stay as they are.
While a month is in a file, rebuild refuses and names it, a new projection waits for it, and lists as of an instant lack what
was made in it. Keep the files as long as the backups, and the JetStream age of events below 31 days.

Examples:
  $ opsplane log detach --before 2026-09 --to /archive
  $ opsplane log attach --from /archive --service itsm`

const auditHelp = `Reads every file, and compares each event with the entry of the audit log, whose chain opsplane audit verify recomputes. Exit
code 1 names the first that differs.`
