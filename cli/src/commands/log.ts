import { type Command, InvalidArgumentError } from 'commander'
import { printerFor } from '../connect.js'
import type { Io } from '../io.js'
import type { Column } from '../table.js'
import { type OperationOptions, type Ops, serversHelp, withTask } from './with-ops.js'

type Result = Awaited<ReturnType<Ops['detachMonths']>>[number]

/** Works directly on the servers of the platform, not through the API. */
export function addLogCommands(program: Command, io: Io): void {
  const group = program
    .command('log')
    .description('months of the event logs: their size, and detaching old ones')
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
        { title: 'where', value: ({ where }) => where },
        { title: 'events', value: ({ events }) => events },
        { title: 'positions', value: ({ first, last }) => (first === null ? '-' : `${first} to ${last}`) },
        { title: 'bytes', value: ({ bytes }) => bytes },
      ]),
    ),
  )

  command('detach', 'detach old months from the logs, while everything runs', detachHelp)
    .requiredOption('--before <month>', 'all months before this one, such as 2026-09', month)
    .action((options: OperationOptions & { before: string }, command: Command) =>
      withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(await ops.detachMonths({ ...task, before: options.before }), columns),
      ),
    )

  command('attach', 'put detached months back into their logs', attachHelp)
    .option('--month <month>', 'only this one, such as 2026-05', month)
    .action((options: OperationOptions & { month?: string }, command: Command) =>
      withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(await ops.attachMonths({ ...task, month: options.month }), columns),
      ),
    )

  command('audit', 'compare detached months with their checksum and the audit log', auditHelp)
    .option('--month <month>', 'only this one, such as 2026-05', month)
    .action((options: OperationOptions & { month?: string }, command: Command) =>
      withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(await ops.auditMonths({ ...task, month: options.month }), columns),
      ),
    )
}

const columns: Column<Result>[] = [
  { title: 'service', value: ({ service }) => service },
  { title: 'month', value: ({ month }) => month },
  { title: 'events', value: ({ events }) => events },
  { title: 'table', value: ({ table }) => table },
]

function month(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('a month reads like 2026-09')
}

const detachHelp = `A month becomes a table of its own, such as itsm.detached_events_202605, and its checksum is recorded; versions and ids stay
guarded, and read models stay as they are. Backups contain the table until you drop it. To move it out of the database:

  $ opsplane log detach --before 2026-06
  $ pg_dump -Fc --table itsm.detached_events_202605 --file itsm-202605.dump "$DATABASE_URL"
  $ psql "$DATABASE_URL" --command 'drop table itsm.detached_events_202605'

While a month is detached, rebuild refuses and names it, a new projection waits for it, and lists as of an instant lack what was
created in it. Set the maximum age of events in JetStream below 31 days.`

const attachHelp = `Attaches the detached months whose tables are in the database, and refuses one whose checksum differs. A month that was moved out:

  $ pg_restore --dbname "$DATABASE_URL" itsm-202605.dump
  $ opsplane log attach --service itsm --month 2026-05`

const auditHelp = `Reads every event of the detached months whose tables are in the database, and compares it with the entry of the audit log, whose
chain opsplane audit verify recomputes. Exit code 1 names the first that differs.`
