import { eventHeaders, type NatsNames, type PlatformEvent, stringifyExact } from '@opsplane/contracts'
import {
  type ConsumerProgress,
  eventQueueKey,
  type Received,
  type StreamMessage,
  subjectMatches,
} from '@opsplane/nats'
import type { Logger } from '@opsplane/runtime'
import type { ConsumerTables, LogProgress } from './consumer-tables.js'
import type { LogSource } from './log-pages.js'

export interface HistoryOptions {
  /**
   * `all`: for a projection, which is filled from the beginning if it is new. `gap`: for external effects, for which
   * only the events missed since the consumer's creation are backfilled.
   */
  of: 'all' | 'gap'
  /** The logs of all services, from ServiceContext. */
  logs: readonly LogSource[]
}

interface BackfillOptions {
  names: NatsNames
  durable: string
  history: HistoryOptions
  filterSubjects?: readonly string[]
  tables: ConsumerTables
  closing: AbortSignal
  log: Logger
  /** Handles events like a batch from the stream, and records the position up to which the log has been read. */
  apply(events: Received<PlatformEvent>[], progress: LogProgress): Promise<void>
}

/** Maximum assumed clock skew between services, Postgres and the NATS server. */
const skewMs = 3_600_000
/** How much further the logs are read, to cover messages the stream loses in the meantime. */
const aheadMs = 3_600_000

/** The consumer's progress when the logs were read. */
export interface BackfillResult extends ConsumerProgress {
  /** The logs contained everything the stream had up to this sequence when they were read; 0 if they were not read. */
  readTo: number
}

/** Whether every message the stream has lost since the logs were read was either read from them or already handled. */
export const isCovered = (filled: BackfillResult, now: ConsumerProgress): boolean =>
  now.streamCreated === filled.streamCreated &&
  (now.firstSequence <= Math.max(filled.firstSequence, filled.ackFloor + 1) ||
    (now.firstSequence <= filled.readTo + 1 &&
      filled.firstStoredMs !== null &&
      now.firstStoredMs !== null &&
      now.firstStoredMs <= filled.firstStoredMs + aheadMs))

/**
 * Runs before a consumer requests messages from the stream: reads from the logs the events the stream lost before
 * they were handled, and repeats that while the stream loses further events that were not read. Resumable; events
 * that are still in the stream may be handled twice, so that there is no gap between the two sources. Resolves to
 * the progress up to which nothing is missing.
 */
export async function backfillFromLogs(
  options: BackfillOptions,
  readProgress: () => Promise<ConsumerProgress>,
): Promise<BackfillResult> {
  for (let place = await readProgress(); ; ) {
    const { streamCreated, firstSequence } = place
    const handled = await fillBefore(options, place)
    const filled =
      handled === undefined
        ? { ...place, readTo: place.lastSequence }
        : { ...place, ackFloor: Math.max(place.ackFloor, handled), readTo: 0 }
    const now = await readProgress()
    if (isCovered(filled, now)) {
      if (handled === undefined)
        await options.tables.arrive({ streamCreated, ackFloor: firstSequence - 1 }, new Map())
      return filled
    }
    options.log.info(
      { durable: options.durable },
      'the stream has lost messages meanwhile, reading the logs again',
    )
    place = now
  }
}

/**
 * Resolves to the sequence up to which everything had been handled if nothing had to be read, otherwise to
 * `undefined`.
 */
async function fillBefore(options: BackfillOptions, place: ConsumerProgress): Promise<number | undefined> {
  const { tables, history, durable, log } = options
  const saved = await tables.place()
  const isWhole =
    saved !== undefined &&
    saved.streamCreated === place.streamCreated &&
    saved.ackFloor + 1 >= place.firstSequence
  if (isWhole) return saved.ackFloor
  if (saved || history.of === 'all') {
    log.info(
      { durable, from: saved?.ackFloor, first: place.firstSequence },
      'reading events that the stream no longer has from the logs of the services',
    )
    const before =
      place.firstStoredMs === null ? undefined : instantOf(place.firstStoredMs + aheadMs + skewMs)
    // A consumer with external effects ignores events from before its creation.
    const since = history.of === 'gap' && saved ? instantOf(saved.startedMs - skewMs) : undefined
    for (const source of history.logs) await readLog(options, source, place.ackFloor, { since, before })
    if (options.closing.aborted) throw new Error('closed while it was filled from the logs')
    log.info(
      { durable },
      'the projection is complete: events the stream no longer had were read from the logs',
    )
  }
  return undefined
}

const instantOf = (ms: number) => new Date(ms).toISOString()

async function readLog(
  options: BackfillOptions,
  { source, page }: LogSource,
  ackFloor: number,
  times: { since?: string | undefined; before?: string | undefined },
) {
  const types = typesOf(options.names, options.filterSubjects)
  let after: number | null = await options.tables.readUpTo(source)
  while (after !== null && !options.closing.aborted) {
    const { events, next }: Awaited<ReturnType<typeof page>> = await page({ after, types, ...times })
    const position = next ?? events.at(-1)?.position
    const received = events
      .map(({ position, event }) => fromLog(options.names, event, { source, position }, ackFloor))
      .filter(({ message }) => matchesFilters(options, message))
    if (position !== undefined) await options.apply(received, { source, position })
    after = next
  }
}

const matchesFilters = ({ filterSubjects }: BackfillOptions, { subject }: StreamMessage) =>
  !filterSubjects || filterSubjects.some((filter) => subjectMatches(filter, subject))

/** The event types that the filters match, for any tenant: `incident.created,change.*`. */
function typesOf(names: NatsNames, filterSubjects: readonly string[] | undefined): string {
  const before = names.eventSubjects.split('.').length + 1
  const types = filterSubjects?.map((filter) => filter.split('.').slice(before).join('.').replace(/>$/, '*'))
  return types && types.length > 0 && types.every((type) => type !== '') ? [...new Set(types)].join(',') : '*'
}

/** Presents an event of the log like a received message; there is nothing to acknowledge. */
function fromLog(
  names: NatsNames,
  event: PlatformEvent,
  { source, position }: LogProgress,
  after: number,
): Received<PlatformEvent> {
  const headers: Record<string, string> = {
    'Nats-Msg-Id': event.id,
    [eventHeaders.source]: source,
    [eventHeaders.position]: String(position),
  }
  const nothing = () => {}
  const message: StreamMessage = {
    subject: names.eventSubject(event),
    stream: '',
    seq: position,
    after,
    deliveries: 1,
    storedMs: Date.parse(event.createdAt),
    waiting: 0,
    bytes: 0,
    header: (name) => headers[name],
    string: () => stringifyExact(event),
    json: () => event,
    ack: nothing,
    nak: nothing,
    term: nothing,
    working: nothing,
    disown: nothing,
  }
  return { message, event, queueKey: eventQueueKey(event), tenant: event.workspaceId }
}
