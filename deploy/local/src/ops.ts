import { Command, InvalidArgumentError, Option } from 'commander'
import { findTarget, type TargetOptions } from './ops-target.js'
import { type OpsTask, rebuildServices, reseedServices, statusOfServices } from './ops-tasks.js'
import { LocalRunError } from './ports.js'
import { type BackendName, backendNames } from './service-plan.js'

interface OpsOptions extends TargetOptions {
  service?: BackendName
  json?: boolean
}

interface ReseedOptions extends OpsOptions {
  from?: number
  to?: number
}

function parsePosition(text: string): number {
  const position = Number(text)
  if (!Number.isSafeInteger(position) || position < 1)
    throw new InvalidArgumentError('a position is a whole number from 1')
  return position
}

/** The task the options describe. Progress is for people, so with --json there is none. */
function taskOf(options: OpsOptions): OpsTask {
  return {
    target: findTarget(options, process.env),
    services: options.service ? [options.service] : backendNames,
    ...(!options.json && { say: (line: string) => console.log(line) }),
  }
}

function printJson(options: OpsOptions, result: unknown): void {
  if (options.json) console.log(JSON.stringify(result))
}

async function reseedAction(options: ReseedOptions): Promise<void> {
  const { from, to } = options
  if (!options.service && (from !== undefined || to !== undefined))
    throw new LocalRunError('Positions are counted per service: name it with --service.')
  const range = {
    ...(from !== undefined && { fromPosition: from }),
    ...(to !== undefined && { toPosition: to }),
  }
  printJson(options, await reseedServices({ ...taskOf(options), ...range }))
}

async function statusAction(options: OpsOptions): Promise<void> {
  const statuses = await statusOfServices(taskOf(options))
  if (options.json) return printJson(options, statuses)
  for (const { service, events, lastPosition, unpublished, oldestUnpublishedAt, ...rest } of statuses) {
    const since = oldestUnpublishedAt ? ` (since ${oldestUnpublishedAt})` : ''
    const given = rest.deadLetters.reduce((sum, { count }) => sum + count, 0)
    console.log(
      `${service}: ${events} events up to position ${lastPosition}, ${unpublished} unpublished${since}, ${given} dead letters`,
    )
    for (const { consumer, count } of rest.deadLetters) console.log(`  ${consumer}: gave up ${count}`)
    for (const { consumer, streamSequence, handled, updatedAt } of rest.checkpoints)
      console.log(`  ${consumer}: at ${streamSequence} of the stream, ${handled} handled, last ${updatedAt}`)
  }
}

const program = new Command('npm run ops --')
  .description('Operate a running Opsplane: the platform started here, or the one whose servers are named.')
  .showHelpAfterError()
  .addHelpText(
    'after',
    `
The platform is found in <home>/local.json, unless options or environment name its servers.
For scripts: npm run --silent ops -- status --json. The result is the only thing on standard output; errors
go to standard error. The exit code is 0, or 1 when something failed.`,
  )

function command(name: string, description: string, help: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(new Option('--service <name>', 'only this service').choices(backendNames))
    .option('--json', 'print the result as JSON and nothing else')
    .option(
      '--home <folder>',
      'folder of the local run (OPSPLANE_HOME)',
      process.env.OPSPLANE_HOME ?? '.opsplane',
    )
    .option('--database-url <url>', 'Postgres, as the owner of the tables (DATABASE_URL)')
    .addHelpText('after', `\n${help}`)
}

command(
  'rebuild',
  'drop the read models and fold them anew from the events',
  `Safe while the services run. Each service is one transaction: readers see the old rows until it commits, and
nothing is changed when it fails. Writes to the service wait until it is done; those that wait longer than their
statement timeout of 30 s fail without effect, so choose a quiet time for a log of millions of events.
The dispatcher keeps webhooks it has read: restart it when their rows had been wrong.`,
).action(async (options: OpsOptions) => printJson(options, await rebuildServices(taskOf(options))))

command(
  'reseed',
  'publish the events of Postgres to JetStream again',
  `For a JetStream that lost its data; the streams are created if need be. Safe while the services run, and to
repeat: consumers know events they have had by their ids. An event is not delivered to a webhook twice, nor to a
webhook that is younger than the event.`,
)
  .option(
    '--from <position>',
    'first position to publish, with --service (default: the first)',
    parsePosition,
  )
  .option('--to <position>', 'last position to publish, with --service (default: the last)', parsePosition)
  .option('--nats-url <url>', 'NATS server (NATS_URL)')
  .option('--nats-prefix <prefix>', 'prefix of the installation (NATS_PREFIX)')
  .action(reseedAction)

command(
  'status',
  'show events, unpublished events, dead letters and consumer checkpoints of each service',
  'Reads Postgres only.',
).action(statusAction)

try {
  await program.parseAsync()
} catch (error) {
  console.error(error instanceof LocalRunError ? error.message : error)
  process.exitCode = 1
}
