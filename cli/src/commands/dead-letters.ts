import type { DeadLetterId } from '@opsplane/local/ops'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { printerFor } from '../connect.js'
import { CliError, usageError } from '../failure.js'
import type { Io } from '../io.js'
import { count } from '../options.js'
import type { Column } from '../table.js'
import { type ApiChoice, apiOption, changeThroughApi, listThroughApi } from './operator-api.js'
import { type OperationOptions, type Ops, parseBackend, serversHelp, withTask } from './with-ops.js'

interface ListOptions extends OperationOptions, ApiChoice {
  limit: number
}

interface ChoiceOptions extends OperationOptions, ApiChoice {
  all?: true
}

type Listed = Awaited<ReturnType<Ops['listAllDeadLetters']>>[number]

/** Works directly on the servers of the platform, not through the API. */
export function addDeadLetterCommands(program: Command, io: Io): void {
  const group = program
    .command('dead-letters')
    .description('see what consumers of events have given up, hand it to them again or drop it')
    .addHelpText('after', `\n${help}`)

  withServers(group.command('list').description('the oldest dead letters of each service'))
    .option('--consumer <name>', 'only of this consumer')
    .option('--limit <n>', 'how many at most', count, 50)
    .option(...apiOption)
    .addHelpText('after', examples('list', 'list --service itsm --consumer itsm-sla-clocks --json'))
    .action((options: ListOptions, command: Command) => {
      if (options.api) return listThroughApi(io, command, options)
      return withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(
          await ops.listAllDeadLetters({ ...task, ...chosen(options), limit: options.limit }),
          columns,
        ),
      )
    })

  withServers(group.command('show').description('one dead letter, with the message as it came'))
    .argument('<id>', 'such as itsm:12', letterId)
    .addHelpText('after', examples('show itsm:12', 'show itsm:12 --json | jq -r .payload'))
    .action((id: ParsedId, options: OperationOptions, command: Command) =>
      withTask(io, command, options, async (ops, { target }) => {
        const letter = await ops.readDeadLetter(target, inService(ops, id))
        printerFor(io, command).one(letter, [
          ['id', letter.id],
          ['consumer', letter.consumer],
          ['message', letter.messageId],
          ['subject', letter.subject],
          ['in the stream', letter.streamSequence],
          ['in the log', letter.source === null ? null : `${letter.source} ${letter.sourcePosition}`],
          ['deliveries', letter.deliveries],
          ['given up', letter.createdAt],
          ['redriven', letter.redrivenAt],
          ['error', letter.error],
          ['payload', letter.payload],
        ])
      }),
    )

  withChoice(group.command('redrive').description('hand dead letters to their consumers again'))
    .addHelpText(
      'after',
      `\n${redriveHelp}\n${examples('redrive itsm:12', 'redrive --all --consumer itsm-sla-clocks')}`,
    )
    .action((ids: ParsedId[], options: ChoiceOptions, command: Command) => {
      if (options.api)
        return changeThroughApi(io, command, { ...options, ids: ids.map(textOf), action: 'redrive' })
      return withTask(io, command, options, async (ops, task) => {
        const results = await ops.redriveDeadLetters({ ...task, ...choice(ops, ids, options) })
        printerFor(io, command).list(results, [
          { title: 'id', value: ({ id }) => id },
          { title: 'consumer', value: ({ consumer }) => consumer },
          { title: 'outcome', value: ({ outcome }) => outcome },
          { title: 'error', value: ({ error }) => error, elastic: true },
        ])
        const count = (expected: string) => results.filter(({ outcome }) => outcome === expected).length
        if (count('failed') > 0) throw new CliError(`${count('failed')} failed again.`, 1)
        if (count('waiting') > 0)
          throw new CliError(`${count('waiting')} wait for their service, which does not process them.`, 3)
      })
    })

  withChoice(group.command('drop').description('delete dead letters; what they are about is not done'))
    .addHelpText('after', examples('drop itsm:12', 'drop --all --service itsm --consumer itsm-sla-clocks'))
    .action((ids: ParsedId[], options: ChoiceOptions, command: Command) => {
      if (options.api)
        return changeThroughApi(io, command, { ...options, ids: ids.map(textOf), action: 'drop' })
      return withTask(io, command, options, async (ops, task) =>
        printerFor(io, command).list(
          await ops.dropAllDeadLetters({ ...task, ...choice(ops, ids, options) }),
          [
            { title: 'service', value: ({ service }) => service },
            { title: 'dropped', value: ({ dropped }) => dropped },
          ],
        ),
      )
    })
}

const withServers = (command: Command) =>
  command
    .option('--service <name>', 'only of this service')
    .option('--database-url <url>', 'Postgres, as the owner of the tables (DATABASE_URL)')

const withChoice = (command: Command) =>
  withServers(command)
    .argument('[ids...]', 'such as itsm:12', (text: string, before: ParsedId[] = []) => [
      ...before,
      letterId(text),
    ])
    .option('--consumer <name>', 'only of this consumer')
    .addOption(new Option('--all', 'all of them'))
    .option(...apiOption)
    .option('--nats-url <url>', 'NATS server (NATS_URL)')
    .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')

interface ParsedId {
  service: string
  number: number
}

function letterId(text: string): ParsedId {
  const [, service, number] = /^([a-z-]+):([1-9]\d{0,14})$/.exec(text) ?? []
  if (service === undefined) throw new InvalidArgumentError('an id reads like itsm:12')
  return { service, number: Number(number) }
}

const textOf = ({ service, number }: ParsedId) => `${service}:${number}`

const inService = (ops: Ops, { service, number }: ParsedId): DeadLetterId => ({
  service: parseBackend(ops, service),
  number,
})

const chosen = ({ consumer }: { consumer?: string }) => (consumer === undefined ? {} : { consumer })

function choice(ops: Ops, ids: readonly ParsedId[], options: ChoiceOptions) {
  if ((ids.length === 0) !== (options.all === true))
    throw usageError('Name dead letters, or all of them with --all.')
  return { ...chosen(options), ...(ids.length > 0 && { ids: ids.map((id) => inService(ops, id)) }) }
}

const columns: Column<Listed>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'consumer', value: ({ consumer }) => consumer },
  { title: 'message', value: ({ messageId }) => messageId },
  { title: 'deliveries', value: ({ deliveries }) => deliveries },
  { title: 'given up', value: ({ createdAt }) => createdAt },
  { title: 'error', value: ({ error }) => error, elastic: true },
]

const examples = (...lines: string[]) =>
  `\nExamples:\n${lines.map((line) => `  $ opsplane dead-letters ${line}`).join('\n')}`

const redriveHelp = `A running service takes them up at once, one that starts does so then. One that is handled is gone; one that
fails stays, with the new error. It is handled once however often this is done, and later events of its resource
are not undone: consumers keep the higher version. Exit code 1: some failed again. 3: no service takes them up.`

const help = `A consumer gives an event up that has failed ten times, or that cannot be parsed; the relay gives up what is too large
for NATS, which cannot be redriven. Nothing is deleted but by drop.

${serversHelp}

Examples:
  $ opsplane dead-letters list
  $ opsplane dead-letters redrive itsm:12`
