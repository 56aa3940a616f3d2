import { randomUUID } from 'node:crypto'
import { PublishedTopicEvent, parseExact, stringifyExact, TopicEvent } from '@opsplane/contracts'
import { type Command, Option } from 'commander'
import { type Connection, connect, formatPath } from '../connect.js'
import { usageError } from '../failure.js'
import { follow } from '../follow.js'
import type { Io } from '../io.js'
import { count } from '../options.js'

interface TailOptions {
  after?: string
  fromStart?: true
  limit?: number
}

interface PublishOptions {
  type: string
  payload?: string
  payloadStdin?: true
  dedupKey?: string
}

export function addTopicCommands(program: Command, io: Io): void {
  const topics = program
    .command('topics')
    .description('publish to topics and follow them')
    .addHelpText('after', '\nExamples:\n  $ opsplane topics tail orders')

  topics
    .command('tail <topic>')
    .description('show the events of a topic as they are published, from now on')
    .option('--after <event>', 'begin after this event')
    .addOption(new Option('--from-start', 'begin with the oldest event kept').conflicts('after'))
    .option('--limit <n>', 'end after so many', count)
    .addHelpText(
      'after',
      `
It goes on when the platform was away for a while. Ctrl-C ends it.

Examples:
  $ opsplane topics tail orders
  $ opsplane topics tail orders --after evt_… --json | jq .payload`,
    )
    .action((topic: string, options: TailOptions, command: Command) =>
      tail(connect(io, command), topic, options, io.interruption()),
    )

  topics
    .command('publish <topic>')
    .description('publish an event to a topic')
    .requiredOption('--type <type>', 'type of the event, such as order.created')
    .option('--payload <json>', 'a JSON object')
    .addOption(new Option('--payload-stdin', 'read the payload from standard input').conflicts('payload'))
    .option('--dedup-key <key>', 'suppress it when one with this key was published within 5 minutes')
    .addHelpText(
      'after',
      `
Examples:
  $ opsplane topics publish orders --type order.created --payload '{"amount":5}'
  $ jq -n '{amount:5}' | opsplane topics publish orders --type order.created --payload-stdin --dedup-key o-1`,
    )
    .action(async (topic: string, options: PublishOptions, command: Command) => {
      const { api, printer } = connect(io, command)
      const payload = parsePayload(options.payloadStdin ? await io.readInput() : (options.payload ?? '{}'))
      // With an explicit key, a repeated attempt whose response was lost does not store the event twice.
      const deduplicationKey = options.dedupKey ?? `opsplane-cli-${randomUUID()}`
      const body = { type: options.type, payload, deduplicationKey }
      const path = formatPath`/events/topics/${topic}/publish`
      const event = await api.one(PublishedTopicEvent, { method: 'POST', path, body })
      printer.one(event, Object.entries({ ...event, deduplicated: event.deduplicated ? 'yes' : 'no' }))
    })
}

function parsePayload(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    throw usageError('The payload is not JSON.')
  }
}

const pollMs = 20_000
const pageSize = 200

async function tail(
  { api, printer }: Connection,
  topic: string,
  options: TailOptions,
  signal: AbortSignal,
): Promise<void> {
  const path = formatPath`/events/topics/${topic}/events`
  let left = options.limit ?? Number.POSITIVE_INFINITY
  let after = options.fromStart ? undefined : (options.after ?? (await present()))
  const poll = async () => {
    const query = { after, timeout: pollMs, limit: Math.min(left, pageSize) }
    const { data, pagination } = await api.page(TopicEvent, {
      path,
      query,
      attempts: 1,
      extraTimeMs: pollMs,
      signal,
    })
    for (const event of data) printer.line(event, textOf(event))
    left -= data.length
    after = pagination.nextCursor ?? after
    return left > 0
  }
  await follow(poll, { signal, say: printer.say })

  /** The newest event. The API only reads forwards, so all pages have to be passed. */
  async function present(): Promise<string | undefined> {
    let last: string | undefined
    for (let passed = 0, more = true; more && !signal.aborted; ) {
      const page = await api.page(TopicEvent, { path, query: { after: last, limit: pageSize } })
      last = page.pagination.nextCursor ?? last
      more = page.pagination.hasMore
      passed += page.data.length
      if (more && passed % (10 * pageSize) === 0) printer.say(`looking for the end: ${passed} events passed`)
    }
    return last
  }
}

const textOf = ({ createdAt, id, type, payload }: TopicEvent) =>
  `${createdAt}  ${id}  ${type}  ${stringifyExact(payload)}`
