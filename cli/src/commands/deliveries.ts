import { Delivery, DeliveryDetail, deliveryStatuses } from '@opsplane/contracts'
import type { Command } from 'commander'
import { type Connection, connect, formatPath } from '../connect.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'
import { collect, instant, type PagingOptions, repeatableOption, withPaging } from '../options.js'
import { deliveryColumns, deliveryLines } from './delivery-text.js'

interface ListOptions extends PagingOptions {
  event?: string
  status?: string[]
  type?: string[]
  since?: string
  until?: string
}

export function addDeliveryCommands(program: Command, io: Io): void {
  const deliveries = program
    .command('deliveries')
    .description('find, inspect and resend deliveries')
    .addHelpText('after', '\nExamples:\n  $ opsplane deliveries list wh_… --status failed --since 2h')
  const time = instant(io.nowMs())

  withPaging(deliveries.command('list [webhook]'))
    .description('list the deliveries of a webhook, or of an event, newest first')
    .option('--event <event>', 'of this event, to every webhook')
    .addOption(repeatableOption('--status <status>', 'only these', deliveryStatuses))
    .addOption(repeatableOption('--type <type>', 'only of this event type'))
    .option('--since <time>', 'created later: a time, or how long ago (15m, 2h, 7d ago)', time)
    .option('--until <time>', 'created earlier', time)
    .addHelpText(
      'after',
      `
Examples:
  $ opsplane deliveries list wh_… --status failed --status retrying --since 2h
  $ opsplane deliveries list wh_… --type incident.created --since 2026-01-31T08:00Z --until 2026-01-31T09:00Z --all
  $ opsplane deliveries list --event evt_…`,
    )
    .action(async (webhook: string | undefined, options: ListOptions, command: Command) => {
      const path = pathOfList(webhook, options)
      const connection = connect(io, command)
      const { status, type: eventType, since: createdAfter, until: createdBefore } = options
      const call = { path, query: { status, eventType, createdAfter, createdBefore } }
      const items = await collect(connection, Delivery, call, options)
      connection.printer.list(items, deliveryColumns(webhook === undefined))
    })

  deliveries
    .command('get <webhook> <delivery>')
    .description('show a delivery with every attempt, its request and its response')
    .option('--body', 'print the body that was sent, as it was sent, and nothing else')
    .addHelpText(
      'after',
      `
Secrets in headers, and where an endpoint echoes them, are shown as ***.

Examples:
  $ opsplane deliveries get wh_… del_…
  $ opsplane deliveries get wh_… del_… --body | jq .data`,
    )
    .action(async (webhook: string, delivery: string, options: { body?: true }, command: Command) => {
      const { api, printer } = connect(io, command)
      const path = formatPath`/webhooks/${webhook}/deliveries/${delivery}`
      const detail = await api.one(DeliveryDetail, { path })
      if (!options.body) return printer.text(detail, deliveryLines(detail))
      if (!detail.request) throw new CliError(`${delivery} has not been sent yet, so it has no body.`, 1)
      io.out(`${detail.request.body}\n`)
    })

  for (const [name, description, help] of [
    ['retry', 'send failed deliveries again', 'A new cycle of attempts of the same delivery.'],
    ['replay', 'send finished deliveries once more', 'Each becomes a new delivery of the same event.'],
  ] as const) {
    deliveries
      .command(`${name} <webhook> <delivery...>`)
      .description(description)
      .addHelpText(
        'after',
        `
${help} One that is refused is reported on standard error; the others are sent nevertheless, and the exit code is 1.

Examples:
  $ opsplane deliveries ${name} wh_… del_…
  $ opsplane deliveries list wh_… --status failed --json | jq -r '.[].id' | xargs opsplane deliveries ${name} wh_…`,
      )
      .action(async (webhook: string, ids: string[], _options, command: Command) => {
        const connection = connect(io, command)
        const { done, refused } = await resend(connection, name, webhook, ids)
        if (done.length > 0 || refused === 0) connection.printer.list(done, deliveryColumns(false))
        if (refused > 0) throw new CliError(`${refused} of ${ids.length} could not be resent.`, 1)
      })
  }
}

function pathOfList(webhook: string | undefined, { event, type }: ListOptions): string {
  if (event !== undefined && webhook === undefined) {
    if (type !== undefined) throw usageError('An event has one type: --type goes with a webhook only.')
    return formatPath`/events/${event}/deliveries`
  }
  if (webhook !== undefined && event === undefined) return formatPath`/webhooks/${webhook}/deliveries`
  throw usageError('Name either a webhook or, with --event, an event.')
}

/** Resends deliveries one after another. Stops if the platform is unreachable, but not if one delivery is refused. */
async function resend(
  { api, printer }: Connection,
  action: 'retry' | 'replay',
  webhook: string,
  ids: readonly string[],
) {
  const done: Delivery[] = []
  let rejectedCount = 0
  for (const id of ids) {
    const path = `${formatPath`/webhooks/${webhook}/deliveries/${id}`}/${action}`
    try {
      done.push(await api.one(Delivery, { method: 'POST', path }))
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode === 3) throw error
      rejectedCount++
      printer.say(`${id}: ${error.message}`)
    }
  }
  return { done, refused: rejectedCount }
}
