import type { PlatformEvent } from '@opsplane/contracts'
import type { EventConsumer } from '@opsplane/eventstore'
import type { DepthsAfter } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import {
  type AcceptedEvent,
  type LogPositions,
  listBatchKeys,
  listEventKeys,
  toEventBody,
} from '../run/event-wait/accepted-event.js'
import { storeAwaitedEvents } from '../run/event-wait/recent-events.js'
import { type Candidate, findAffectedWorkflows } from './active-workflows.js'
import { isStartedByEvent } from './matching.js'
import type { TriggerStarter } from './trigger-starter.js'

export interface EventTriggersOptions {
  starting: TriggerStarter
  /** Presents the events to runs that wait for one. */
  deliver(events: readonly AcceptedEvent[]): Promise<void>
  depthsAfter: DepthsAfter
}

/** An event, and a workflow that it starts. */
interface Match {
  event: PlatformEvent
  /** Up to where logs had come with it, its own included. */
  since: LogPositions | null
  workflow: Candidate
}

/** Runs started at once. */
const startsAtOnce = 32
/** Events gather for so long where one follows another. */
const spacingMs = 100
/** How far other logs had come is known to within so long when a run begins: what happened before does not count as after it. */
const lowWatermarksMs = 1_000

/**
 * Starts the workflows that events are the trigger of, each once for an event: a repeated batch finds the runs it has started.
 */
export function startEventTriggers(
  { consume, database }: ServiceContext,
  { starting, deliver, depthsAfter }: EventTriggersOptions,
): EventConsumer {
  /** By service: the position of the last relevant event that was handled here. */
  const handled = new Map<string, number>()
  const start = async ({ event, since, workflow: { tenant, state } }: Match, depth: number) => {
    await starting.start(tenant, state, {
      type: 'event',
      id: event.id,
      at: event.createdAt,
      event: toEventBody(event),
      input: null,
      depth,
      requestId: event.requestId,
      causationId: event.id,
      ...(since && { since }),
    })
  }

  const consumer = consume({
    durable: 'workflows-triggers',
    spacingMs,
    lowWatermarksMs,
    performLazily: async (events, { origins }) => {
      const keysOf = listBatchKeys()
      const { candidates, awaitedKeys } = await findAffectedWorkflows(
        database,
        new Set(events.flatMap(keysOf)),
      )
      const relevantKeys = new Set([...awaitedKeys, ...candidates.flatMap(({ keys }) => keys)])
      const accepted = events.flatMap((event, at): AcceptedEvent[] => {
        if (!keysOf(event).some((key) => relevantKeys.has(key))) return []
        const { source = null, position = null } = origins[at] ?? {}
        return [{ event: event.read(), source, position }]
      })
      const awaited = await storeAwaitedEvents(database.sql, accepted, awaitedKeys)
      const before = new Map(consumer.lowWatermarks())
      for (const [source, position] of handled) advance(before, { source, position })
      const matches = matchesOf(candidates, accepted, before)
      const depthAfter = await depthsAfter(matches.map(({ event }) => event))
      for (let from = 0; from < matches.length; from += startsAtOnce)
        await Promise.all(
          matches.slice(from, from + startsAtOnce).map((match) => start(match, depthAfter(match.event))),
        )
      await deliver(awaited)
      for (const each of accepted) advance(handled, each)
    },
  })
  return consumer
}

function advance(
  positions: Map<string, number>,
  { source, position }: Pick<AcceptedEvent, 'source' | 'position'>,
): void {
  if (source === null || position === null) return
  positions.set(source, Math.max(position, positions.get(source) ?? 0))
}

/** `before`: up to where logs had come before the first of the events. */
function matchesOf(
  candidates: readonly Candidate[],
  accepted: readonly AcceptedEvent[],
  before: ReadonlyMap<string, number>,
): Match[] {
  if (candidates.length === 0) return []
  const byKey = new Map<string, Candidate[]>()
  for (const candidate of candidates)
    for (const key of candidate.keys) byKey.set(key, [...(byKey.get(key) ?? []), candidate])
  const positions = new Map(before)
  return accepted.flatMap((each) => {
    advance(positions, each)
    const { event, source, position } = each
    const found = new Set(listEventKeys(event).flatMap((key) => byKey.get(key) ?? []))
    const started = [...found].filter(({ state }) => isStartedByEvent(state, event, { source, position }))
    if (started.length === 0) return []
    const since = source === null ? null : { ...Object.fromEntries(positions), [source]: position ?? 0 }
    return started.map((workflow) => ({ event, since, workflow }))
  })
}
