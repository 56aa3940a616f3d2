import { type Environment, environments, natsNames } from '@opsplane/contracts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { globalOptions, printerFor } from '../connect.js'
import { resolveHome } from '../credentials.js'
import { usageError } from '../failure.js'
import type { Io } from '../io.js'
import type { Column } from '../table.js'
import { type ApiChoice, apiOption, statusThroughApi } from './operator-api.js'
import { type OperationOptions, type Ops, serversHelp, withOps, withTask } from './with-ops.js'

interface ReseedOptions extends OperationOptions {
  from?: number
  to?: number
}

/** Works directly on the servers of the platform, not through the API. */
export function addOperationCommands(program: Command, io: Io): void {
  const operation = (name: string, description: string, help: string) =>
    program
      .command(name)
      .description(description)
      .option('--service <name>', 'only this service')
      .option('--database-url <url>', 'Postgres, as the owner of the tables (DATABASE_URL)')
      .addHelpText(
        'after',
        `\n${help}\n\n${serversHelp}\n\nExamples:\n  $ opsplane ${name}\n  $ opsplane ${name} --service itsm --json`,
      )

  operation(
    'rebuild',
    'drop the read models and rebuild them from the events',
    `Safe while the services run. Each service is one transaction: readers see the old rows until it commits, and
nothing is changed when it fails. Writes to the service wait until it is done; those that wait longer than their
statement timeout of 30 s fail without effect, so choose a quiet time for a log of millions of events.
The dispatcher keeps webhooks it has read: restart it when their rows had been wrong.`,
  ).action((options: OperationOptions, command: Command) =>
    withTask(io, command, options, async (ops, task) =>
      printerFor(io, command).list(await ops.rebuildServices(task), columnsWith('events')),
    ),
  )

  operation(
    'reseed',
    'publish the events of Postgres to JetStream again',
    `For a JetStream that lost its data; the streams are created if need be. Safe while the services run, and to
repeat: consumers know events they have had by their ids. An event is not delivered to a webhook twice, nor to a
webhook that is younger than the event.`,
  )
    .option('--from <position>', 'first position to publish, with --service (default: the first)', position)
    .option('--to <position>', 'last position to publish, with --service (default: the last)', position)
    .option('--nats-url <url>', 'NATS server (NATS_URL)')
    .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')
    .action(async (options: ReseedOptions, command: Command) => {
      const { from, to } = options
      if (options.service === undefined && (from !== undefined || to !== undefined))
        throw usageError('Positions are counted per service: name it with --service.')
      const range = {
        ...(from !== undefined && { fromPosition: from }),
        ...(to !== undefined && { toPosition: to }),
      }
      await withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(
          await ops.reseedServices({ ...task, ...range }),
          columnsWith('published'),
        ),
      )
    })

  addNatsUsers(program, io)

  operation(
    'status',
    'show events, unpublished events, dead letters and consumer checkpoints of each service',
    `Reads Postgres, and asks the gateway for the readiness of each service, where --url, OPSPLANE_URL or the local run names
it. Warnings of the gateway go to standard error. With --api the platform itself reports how it is.`,
  )
    .option('--url <url>', 'where the gateway is (OPSPLANE_URL)')
    .option(...apiOption)
    .action((options: OperationOptions & ApiChoice, command: Command) => {
      if (options.api) return statusThroughApi(io, command)
      return withTask(io, command, options, async (ops, task) => {
        const logs = await ops.statusOfServices(task)
        const { origin } = task.target
        const states = origin === undefined ? undefined : await ops.serviceStates(origin)
        const { say, text } = printerFor(io, command)
        if (states && states.gateway !== 'up') say(`gateway: ${states.gateway}`)
        for (const warning of states?.warnings ?? []) say(`warning: ${warning}`)
        const statuses = logs.map((status) => ({
          ...status,
          state: states?.checks[status.service] ?? null,
        }))
        text(statuses, statuses.flatMap(statusLines))
      })
    })
}

interface SubscriberOptions extends OperationOptions {
  workspaceId: string
  environment?: Environment
  events: string
  start: 'oldest' | 'new'
}

function addNatsUsers(program: Command, io: Io): void {
  const users = program.command('nats-users').description('users of the NATS server')
  users
    .command('config')
    .description(
      'print the users of the platform, with new passwords, for the configuration of a server of yours',
    )
    .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')
    .action((options: OperationOptions, command: Command) =>
      withOps(async (ops) => {
        const config = ops.natsConfig(natsNames(options.natsPrefix ?? io.env.NATS_PREFIX))
        printerFor(io, command).text({ config }, [config.trimEnd()])
      }),
    )
  users
    .command('add <name>')
    .description('let a service outside read events of one workspace, and print its URL once')
    .requiredOption('--workspace-id <id>', 'whose events')
    .addOption(new Option('--environment <name>', 'of this environment only').choices(environments))
    .option('--events <patterns>', 'types and prefixes, such as incident.*,change.created', '*')
    .addOption(new Option('--start <where>', 'where it begins').choices(['oldest', 'new']).default('oldest'))
    .option('--nats-url <url>', 'NATS server, as the operator (NATS_URL)')
    .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')
    .addHelpText('after', `\n${subscriberHelp}\n\n${serversHelp}`)
    .action((name: string, options: SubscriberOptions, command: Command) =>
      withTask(io, command, options, async (ops, { target }) => {
        const { workspaceId, environment, events, start } = options
        const tenant = { workspaceId, ...(environment && { environment }) }
        const home = resolveHome(globalOptions(command).home, io.env)
        const added = await ops.addSubscriber(
          { target, home },
          { name, tenant, patterns: events.split(','), start },
        )
        const lines = [`url      ${added.url}`, `durable  ${added.durable}`]
        printerFor(io, command).text(
          added,
          added.config === null ? lines : [...lines, added.config.trimEnd()],
        )
      }),
    )
}

const subscriberHelp = `Makes a durable and a user that can do nothing but ask for its messages and acknowledge them. The local run's
server knows the user at once; for one of yours, the entry is printed: add it to its users and reload it.`

const columnsWith = <Name extends 'events' | 'published'>(
  title: Name,
): Column<{ service: string } & Record<Name, number>>[] => [
  { title: 'service', value: (row) => row.service },
  { title, value: (row) => row[title] },
]

function position(text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new InvalidArgumentError('a position is a whole number from 1')
}

type Status = Awaited<ReturnType<Ops['statusOfServices']>>[number] & { state: string | null }

function statusLines(status: Status): string[] {
  const { events, lastPosition, unpublished, oldestUnpublishedAt, deadLetters, checkpoints } = status
  const since = oldestUnpublishedAt ? ` (since ${oldestUnpublishedAt})` : ''
  const deadLetterCount = deadLetters.reduce((sum, { count }) => sum + count, 0)
  return [
    `${status.service}: ${status.state === null ? '' : `${status.state}, `}${events} events up to position ${lastPosition}, ${unpublished} unpublished${since}, ${deadLetterCount} dead letters`,
    ...deadLetters.map(({ consumer, count }) => `  ${consumer}: gave up ${count}`),
    ...checkpoints.map(
      ({ consumer, streamSequence, handled, updatedAt }) =>
        `  ${consumer}: at ${streamSequence} of the stream, ${handled} handled, last ${updatedAt}`,
    ),
  ]
}
