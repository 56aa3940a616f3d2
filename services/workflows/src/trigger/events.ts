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
  /** Presents the events to runs that wait for them. */
  deliver(events: readonly AcceptedEvent[]): Promise<void>
  depthsAfter: DepthsAfter
}

/** An event with a workflow that it starts. */
interface Match {
  event: PlatformEvent
  /** Log positions at the event, including its own. */
  since: LogPositions | null
  workflow: Candidate
}

/** Maximum number of runs started concurrently. */
const startsAtOnce = 32
/** Time for which events are collected into a batch, in milliseconds. */
const spacingMs = 100
/**
 * Accuracy of the known positions of other logs when a run starts, in milliseconds: earlier events must not count as
 * later ones.
 */
const lowWatermarksMs = 1_000

/**
 * Starts workflows with event triggers, each once for an event: a redelivered batch finds the runs it has started.
 */
export function startEventTriggers(
  { consume, database }: ServiceContext,
  { starting, deliver, depthsAfter }: EventTriggersOptions,
): EventConsumer {
  /** Position of the last relevant event handled by this replica, by service. */
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
      const matches = findMatches(candidates, accepted, before)
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

/** `before`: log positions before the first of the events. */
function findMatches(
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
