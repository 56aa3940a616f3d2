import { Webhook, WebhookTestResult, webhookStatuses } from '@opsplane/contracts'
import type { WaitingWebhook } from '@opsplane/local/ops'
import { type Command, Option } from 'commander'
import { connect, formatPath, printerFor } from '../connect.js'
import { ApiFailure, CliError } from '../failure.js'
import type { Io } from '../io.js'
import { collect, count, type PagingOptions, withPaging } from '../options.js'
import type { Column } from '../table.js'
import { type OperationOptions, serversHelp, withTask } from './with-ops.js'

const columns: Column<Webhook>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, elastic: true },
  { title: 'status', value: statusOf },
  { title: 'failures', value: ({ consecutive_failures: failures }) => failures },
  { title: 'events', value: ({ events }) => events.join(','), elastic: true },
  { title: 'url', value: ({ url }) => url, elastic: true },
]

const lagColumns: Column<WaitingWebhook>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'workspace', value: ({ workspaceId }) => workspaceId },
  { title: 'environment', value: ({ environment }) => environment },
  { title: 'host', value: ({ host }) => host, elastic: true },
  { title: 'status', value: ({ status }) => status },
  { title: 'waiting', value: ({ waiting }) => waiting },
  { title: 'oldest', value: ({ oldestAt }) => oldestAt },
  { title: 'failures', value: ({ failures }) => failures },
  { title: 'last answer', value: ({ lastError, lastStatus }) => lastError ?? lastStatus },
]

const lagHelp = `Deliveries that have not ended, retries and those of paused webhooks included, longest wait first. 10000 waiting stand
for more. Exit code 0: listed, also where none waits. 2: no server is named. 3: Postgres cannot be reached.

${serversHelp}

Examples:
  $ opsplane webhooks lag
  $ opsplane webhooks lag --limit 1 --json`

export function addWebhookCommands(program: Command, io: Io): void {
  const webhooks = program
    .command('webhooks')
    .description('see, pause, resume and test webhooks')
    .addHelpText('after', '\nExamples:\n  $ opsplane webhooks list --status paused')

  withPaging(webhooks.command('list'))
    .description('list webhooks, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(webhookStatuses))
    .addHelpText('after', '\nExamples:\n  $ opsplane webhooks list --status paused')
    .action(async (options: PagingOptions & { status?: string }, command: Command) => {
      const connection = connect(io, command)
      const call = { path: '/webhooks', query: { status: options.status } }
      connection.printer.list(await collect(connection, Webhook, call, options), columns)
    })

  webhooks
    .command('get <webhook>')
    .description('show a webhook')
    .addHelpText('after', '\nExamples:\n  $ opsplane webhooks get wh_… --json | jq .filter')
    .action(async (id: string, _options, command: Command) => {
      const { api, printer } = connect(io, command)
      const webhook = await api.one(Webhook, { path: formatPath`/webhooks/${id}` })
      printer.one(webhook, fieldsOf(webhook))
    })

  for (const [name, status, description, help] of [
    ['pause', 'paused', 'stop sending', 'Deliveries are held until it is resumed.'],
    [
      'resume',
      'active',
      'send again, and deliver what was held meanwhile',
      'Held deliveries go out rate-limited.',
    ],
  ] as const) {
    webhooks
      .command(`${name} <webhook>`)
      .description(description)
      .addHelpText('after', `\n${help}\n\nExamples:\n  $ opsplane webhooks ${name} wh_…`)
      .action(async (id: string, _options, command: Command) => {
        const { api, printer } = connect(io, command)
        const call = { method: 'PATCH', path: formatPath`/webhooks/${id}`, body: { status } } as const
        const webhook = await api.one(Webhook, call)
        printer.one(webhook, fieldsOf(webhook))
      })
  }

  webhooks
    .command('lag')
    .description('the webhooks of all workspaces whose deliveries wait longest')
    .option('--limit <n>', 'how many at most', count, 20)
    .option('--database-url <url>', 'Postgres, as the owner of the tables (DATABASE_URL)')
    .addHelpText('after', `\n${lagHelp}`)
    .action((options: OperationOptions & { limit: number }, command: Command) =>
      withTask(io, command, options, async (ops, { target }) =>
        printerFor(io, command).list(await ops.listWaitingWebhooks(target, options.limit), lagColumns),
      ),
    )

  webhooks
    .command('test <webhook>')
    .description('send a signed test ping and show what the endpoint answered')
    .addHelpText(
      'after',
      '\nThe exit code is 0 only when the endpoint answered 2xx.\n\nExamples:\n  $ opsplane webhooks test wh_…',
    )
    .action((id: string, _options, command: Command) => test(io, id, command))
}

async function test(io: Io, id: string, command: Command): Promise<void> {
  const { api, printer } = connect(io, command)
  const call = { method: 'POST', path: formatPath`/webhooks/${id}/test`, ...pingCall } as const
  const result = await api.one(WebhookTestResult, call).catch((error: unknown) => {
    // The endpoint is unreachable, not the platform.
    const ofEndpoint =
      error instanceof ApiFailure && error.details.some(({ path }) => path === '/url' || path === '/headers')
    throw ofEndpoint ? new CliError(error.message, 1, { cause: error }) : error
  })
  const { status, latency_ms: latency, body } = result
  printer.one(result, [
    ['status', status],
    ['latency', `${latency} ms`],
    ['body', body],
  ])
  if (status < 200 || status > 299) throw new CliError(`The endpoint answered ${status}.`, 1)
}

/** Not retried, because each attempt would send another ping; an endpoint may use its whole `timeout_ms`. */
const pingCall = { attempts: 1, extraTimeMs: 60_000 }

function statusOf({ status, paused_reason: reason }: Webhook): string {
  return reason === null ? status : `${status} (${reason})`
}

function fieldsOf(webhook: Webhook): [string, string | number | null][] {
  const { retries, retry_strategy: strategy, retry_schedule: schedule, filter, headers } = webhook
  return [
    ['id', webhook.id],
    ['name', webhook.name],
    ['url', webhook.url],
    ['status', statusOf(webhook)],
    ['failures', `${webhook.consecutive_failures} in a row`],
    ['events', webhook.events.join(', ')],
    ['filter', filter && JSON.stringify(filter)],
    ['headers', Object.keys(headers).length > 0 ? JSON.stringify(headers) : null],
    ['signed', webhook.has_secret ? 'yes' : 'no'],
    ['retries', `${retries}, ${schedule ? `after ${schedule.join(', ')} s` : strategy}`],
    ['timeout', `${webhook.timeout_ms} ms`],
    ['created', webhook.created_at],
    ['updated', webhook.updated_at],
  ]
}
