import { DeadLetter, PlatformStatus } from '@opsplane/contracts'
import type { Command } from 'commander'
import { type Connection, connect, formatPath } from '../connect.js'
import { usageError } from '../failure.js'
import type { Io } from '../io.js'
import type { Column } from '../table.js'

/** Option that makes a command use the API instead of the servers. */
export const apiOption = ['--api', 'through the API, signed in as an operator of the installation'] as const

export interface ApiChoice {
  api?: true
  service?: string
  consumer?: string
}

/** Prints the status of the installation as the API reports it. */
export async function statusThroughApi(io: Io, command: Command): Promise<void> {
  const { api, printer } = connect(io, command)
  const status = await api.one(PlatformStatus, { path: '/platform/status' })
  printer.text(status, [
    ...status.services.flatMap(serviceLines),
    `${status.workspaceCount} workspaces`,
    ...(status.webhooks ?? []).map(
      ({ id, name, workspaceId, waiting, oldestAt }) =>
        `webhook ${id} (${name}, ${workspaceId}): ${waiting} deliveries wait, the first since ${oldestAt}`,
    ),
  ])
}

function serviceLines({ name, state, figures }: PlatformStatus['services'][number]): string[] {
  if (figures === null) return [`${name}: ${state}`]
  const { unpublished, oldestUnpublishedAt, consumers, dueWork } = figures
  const since = oldestUnpublishedAt ? ` (since ${oldestUnpublishedAt})` : ''
  const deadLetterCount = consumers.reduce((sum, { deadLetters }) => sum + deadLetters, 0)
  return [
    `${name}: ${state}, ${unpublished} unpublished${since}, ${deadLetterCount} dead letters`,
    ...consumers
      .filter(({ pending, deadLetters }) => (pending ?? 0) > 0 || deadLetters > 0)
      .map(({ name: consumer, pending, deadLetters }) =>
        pending === null
          ? `  ${consumer}: gave up ${deadLetters}`
          : `  ${consumer}: ${pending} pending, gave up ${deadLetters}`,
      ),
    ...dueWork
      .filter(({ late }) => late > 0)
      .map(
        ({ name: work, late, oldestSeconds }) =>
          `  ${work}: ${late} due, the first for ${Math.round(oldestSeconds)} s`,
      ),
  ]
}

const lettersOf = ({ api }: Connection, { service, consumer }: ApiChoice, max?: number) =>
  api.pages(DeadLetter, { path: '/platform/dead-letters', query: { service, consumer } }, max)

/** Lists the oldest dead letters of each service. */
export async function listThroughApi(
  io: Io,
  command: Command,
  choice: ApiChoice & { limit: number },
): Promise<void> {
  const connection = connect(io, command)
  const found: DeadLetter[] = []
  for await (const page of lettersOf(connection, choice, choice.limit)) found.push(...page)
  connection.printer.list(found, columns)
}

/** Redrives or drops the given dead letters, or all that match `choice`. */
export async function changeThroughApi(
  io: Io,
  command: Command,
  {
    ids,
    all,
    action,
    ...choice
  }: ApiChoice & { ids: readonly string[]; all?: true; action: 'redrive' | 'drop' },
): Promise<void> {
  if ((ids.length === 0) !== (all === true)) throw usageError('Name dead letters, or all of them with --all.')
  const connection = connect(io, command)
  const { api, printer } = connection
  const chosen = [...ids]
  // All pages are read first: redriving or dropping a dead letter would shift the pages.
  if (all) for await (const page of lettersOf(connection, choice)) chosen.push(...page.map(({ id }) => id))
  for (const id of chosen) {
    if (action === 'drop')
      await api.none({ method: 'DELETE', path: formatPath`/platform/dead-letters/${id}` })
    else await api.one(DeadLetter, { method: 'POST', path: formatPath`/platform/dead-letters/${id}/redrive` })
  }
  const rows = chosen.map((id) => ({ id, outcome: action === 'drop' ? 'dropped' : 'handed over' }))
  printer.list(rows, [
    { title: 'id', value: ({ id }) => id },
    { title: 'outcome', value: ({ outcome }) => outcome },
  ])
}

const columns: Column<DeadLetter>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'consumer', value: ({ consumer }) => consumer },
  { title: 'message', value: ({ messageId }) => messageId },
  { title: 'event', value: ({ eventType }) => eventType },
  { title: 'workspace', value: ({ workspaceId }) => workspaceId },
  { title: 'cause', value: ({ cause }) => cause },
  { title: 'deliveries', value: ({ deliveries }) => deliveries },
  { title: 'given up', value: ({ createdAt }) => createdAt },
  { title: 'redriven', value: ({ redrivenAt }) => redrivenAt },
]
