import { ReplayJob, ReplayStarted } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Command } from 'commander'
import { type Connection, connect, formatPath } from '../connect.js'
import { CliError } from '../failure.js'
import type { Io } from '../io.js'
import { collect, instant, type PagingOptions, repeatableOption, withPaging } from '../options.js'
import type { Column } from '../table.js'

interface StartOptions {
  status?: string[]
  type?: string
  since?: string
  until?: string
  dryRun?: true
  wait?: true
}

const columns: Column<ReplayJob>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'status', value: ({ status }) => status },
  { title: 'replayed', value: ({ replayed, total }) => `${replayed}/${total}` },
  { title: 'created', value: ({ createdAt }) => createdAt },
  { title: 'finished', value: ({ finishedAt }) => finishedAt },
  { title: 'selection', value: selectionOf, elastic: true },
]

export function addReplayCommands(program: Command, io: Io): void {
  const replays = program
    .command('replays')
    .description('replay many deliveries at once')
    .addHelpText('after', '\nExamples:\n  $ opsplane replays start wh_… --since 2h --dry-run')
  const time = instant(io.nowMs())

  replays
    .command('start <webhook>')
    .description('replay the finished deliveries that match, oldest first and rate-limited')
    .addOption(
      repeatableOption('--status <status>', 'only these; failed unless given', ['failed', 'succeeded']),
    )
    .option('--type <type>', 'only of this event type')
    .option(
      '--since <time>',
      'created at this time or later: a time, or how long ago (15m, 2h, 7d ago)',
      time,
    )
    .option('--until <time>', 'created earlier; now unless given', time)
    .option('--dry-run', 'only count what matches')
    .option('--wait', 'stay until all are replayed; the exit code is 1 when the job is canceled')
    .addHelpText(
      'after',
      `
Replays are not replayed again, nor is what was replayed since and has not failed again, so that a second run sends
what is still missing only.

Examples:
  $ opsplane replays start wh_… --since 2h --dry-run
  $ opsplane replays start wh_… --since 2h --wait
  $ opsplane replays start wh_… --status failed --status succeeded --since 2026-01-31T08:00Z --until 2026-01-31T09:00Z`,
    )
    .action((webhook: string, options: StartOptions, command: Command) =>
      start(connect(io, command), webhook, options),
    )

  withPaging(replays.command('list <webhook>'))
    .description('list the replay jobs of a webhook, newest first')
    .addHelpText('after', '\nExamples:\n  $ opsplane replays list wh_…')
    .action(async (webhook: string, options: PagingOptions, command: Command) => {
      const connection = connect(io, command)
      const call = { path: formatPath`/webhooks/${webhook}/replays` }
      connection.printer.list(await collect(connection, ReplayJob, call, options), columns)
    })

  for (const [name, method, suffix, description] of [
    ['get', 'GET', '', 'show how far a replay job is'],
    ['cancel', 'POST', '/cancel', 'replay nothing more; what was replayed so far is delivered'],
  ] as const) {
    replays
      .command(`${name} <webhook> <replay>`)
      .description(description)
      .addHelpText('after', `\nExamples:\n  $ opsplane replays ${name} wh_… rpl_…`)
      .action(async (webhook: string, replay: string, _options, command: Command) => {
        const { api, printer } = connect(io, command)
        const path = `${formatPath`/webhooks/${webhook}/replays/${replay}`}${suffix}`
        const job = await api.one(ReplayJob, { method, path })
        printer.one(job, fieldsOf(job))
      })
  }
}

async function start(connection: Connection, webhook: string, options: StartOptions): Promise<void> {
  const { api, printer } = connection
  const { status, type: eventType, since: from, until: to, dryRun = false, wait } = options
  const body = { status, eventType, from, to, dryRun }
  const path = formatPath`/webhooks/${webhook}/deliveries/replay`
  const started = await api.one(ReplayStarted, { method: 'POST', path, body })
  const job = started.job && wait ? await finished(connection, started.job) : started.job
  const outcome: [string, string | number | null][] = job ? fieldsOf(job) : []
  printer.one({ ...started, job }, [['matching', started.count], ...outcome])
  if (job?.status === 'canceled' && wait) throw new CliError(`${job.id} was canceled.`, 1)
}

const pollMs = 500

async function finished({ api, printer }: Connection, started: ReplayJob): Promise<ReplayJob> {
  const path = formatPath`/webhooks/${started.webhookId}/replays/${started.id}`
  let reportedCount = -1
  for (;;) {
    const job = await api.one(ReplayJob, { path, attempts: waitAttempts })
    if (job.replayed !== reportedCount) printer.say(`${job.id}: ${job.replayed} of ${job.total} replayed`)
    reportedCount = job.replayed
    if (job.status !== 'running') return job
    await delay(pollMs)
  }
}

/** The job continues on the server, so the command keeps polling while the platform restarts. */
const waitAttempts = 20

function selectionOf({ filter: { status, eventType, from, to } }: ReplayJob): string {
  return [status.join('+'), eventType, from && `from ${from}`, `to ${to}`].filter(Boolean).join(' ')
}

function fieldsOf(job: ReplayJob): [string, string | number | null][] {
  return columns.map(({ title, value }) => [title, value(job)])
}
