import { AuditEvent, Me } from '@opsplane/contracts'
import { type Command, Option } from 'commander'
import { tailAudit } from '../audit-tail.js'
import { connect, globalOptions, printerFor } from '../connect.js'
import { parseCatalogPattern, tailStream } from '../event-stream.js'
import { usageError } from '../failure.js'
import type { Io } from '../io.js'
import { collect, count, instant, type PagingOptions, withPaging } from '../options.js'
import type { Column } from '../table.js'

interface ListOptions extends PagingOptions {
  type?: string
  actor?: string
  resourceType?: string
  resourceId?: string
  since?: string
  until?: string
  oldestFirst?: true
}

interface TailOptions {
  type?: string
  since?: string
  limit?: number
  natsUrl?: string
  natsPrefix?: string
  allWorkspaces?: true
}

type Shown = Pick<AuditEvent, 'id' | 'type' | 'createdAt' | 'actor' | 'resource'>

const resourceOf = ({ resource: { id, number, displayName } }: Shown) =>
  [number ?? id, displayName].filter(Boolean).join(' ')

const columns: Column<Shown>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'time', value: ({ createdAt }) => createdAt },
  { title: 'type', value: ({ type }) => type },
  { title: 'actor', value: ({ actor }) => actor.name, elastic: true },
  { title: 'resource', value: resourceOf, elastic: true },
]

export function addEventCommands(program: Command, io: Io): void {
  const events = program
    .command('events')
    .description('see what happens on the platform')
    .addHelpText('after', "\nExamples:\n  $ opsplane events tail --type 'incident.*'")
  const time = instant(io.nowMs())

  withPaging(events.command('list'))
    .description('list events of the audit log, newest first')
    .option('--type <pattern>', 'event type, prefix.* or *')
    .option('--actor <id>', 'id of who acted')
    .option('--resource-type <type>', 'such as incident')
    .option('--resource-id <id>', 'what it happened to')
    .option('--since <time>', 'at this time or later: a time, or how long ago (15m, 2h, 7d ago)', time)
    .option('--until <time>', 'earlier', time)
    .option('--oldest-first', 'the other way round')
    .addHelpText('after', "\nExamples:\n  $ opsplane events list --type 'webhook.*' --since 1d")
    .action(async (options: ListOptions, command: Command) => {
      const connection = connect(io, command)
      const { type, actor, resourceType, resourceId, since: from, until: to, oldestFirst } = options
      const sort = oldestFirst ? 'createdAt' : '-createdAt'
      const call = { path: '/audit', query: { type, actor, resourceType, resourceId, from, to, sort } }
      connection.printer.list(await collect(connection, AuditEvent, call, options), columns)
    })

  events
    .command('tail')
    .description('show events as they happen')
    .option('--type <pattern>', 'event type, prefix.* or *')
    .option('--since <time>', 'begin there instead of now: a time, or how long ago (15m, 2h, 7d ago)', time)
    .option('--limit <n>', 'end after so many', count)
    .addOption(
      new Option('--nats-url <url>', 'read JetStream instead: at once, inside the network only').conflicts(
        'since',
      ),
    )
    .option('--nats-prefix <prefix>', 'prefix of the installation on that server (NATS_PREFIX)')
    .option('--all-workspaces', 'with --nats-url: the events of every workspace; needs no credentials')
    .addHelpText(
      'after',
      `
It shows each event once, in the order of the audit log. With --nats-url it comes straight from JetStream.
It goes on when the platform was away for a while. Ctrl-C ends it.

Examples:
  $ opsplane events tail --type 'incident.*'
  $ opsplane events tail --since 15m --json | jq -r '[.createdAt, .type, .actor.name] | @tsv'
  $ opsplane events tail --nats-url nats://127.0.0.1:4222`,
    )
    .action((options: TailOptions, command: Command) => tail(io, options, command))
}

async function tail(io: Io, options: TailOptions, command: Command): Promise<void> {
  const { type, since, natsUrl: url, natsPrefix, allWorkspaces } = options
  if (!url && (allWorkspaces || natsPrefix))
    throw usageError('--all-workspaces and --nats-prefix go with --nats-url.')
  const printer = printerFor(io, command)
  let left = options.limit ?? Number.POSITIVE_INFINITY
  const onEvent = (event: Shown) => {
    printer.line(event, textOf(event))
    return --left > 0
  }
  const signal = io.interruption()
  if (!url) {
    const { api } = connect(io, command)
    return tailAudit({ api, type, since, signal, say: printer.say, onEvent })
  }
  if (!URL.canParse(url)) throw usageError('--nats-url reads like nats://127.0.0.1:4222.')
  const pattern = parseCatalogPattern(type ?? '*')
  const tenant = allWorkspaces ? undefined : await currentTenant(io, command)
  const prefix = natsPrefix ?? (io.env.NATS_PREFIX || undefined)
  await tailStream({
    url,
    prefix,
    pattern,
    tenant,
    timeoutMs: globalOptions(command).timeout,
    signal,
    onEvent,
  })
}

/** Subjects contain the workspace id, which only the API can provide. */
async function currentTenant(io: Io, command: Command) {
  const { workspace, environment } = await connect(io, command).api.one(Me, { path: '/auth/me' })
  if (!workspace || !environment)
    throw usageError('The credentials name no workspace; give --all-workspaces.')
  return { workspaceId: workspace.id, environment }
}

const textOf = (event: Shown) =>
  `${event.createdAt}  ${event.id}  ${event.type}  ${event.actor.name}  ${resourceOf(event)}`
