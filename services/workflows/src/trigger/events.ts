import type { PlatformEvent } from '@opsplane/contracts'
import type { EventConsumer, EventOrigin } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { type Candidate, candidatesFor, depthsOf } from './active.js'
import { eventBody, keysOfEvent, startsBy } from './matching.js'
import type { Starting } from './starting.js'

export interface EventTriggersOptions {
  starting: Starting
  /** Presents the events to runs that wait for one. */
  deliver?(events: readonly PlatformEvent[]): Promise<void>
}

/** An event, and a workflow that it starts. */
interface Match {
  event: PlatformEvent
  workflow: Candidate
}

/** Runs started at once. */
const startsAtOnce = 32

/**
 * Starts the workflows that events are the trigger of, each once for an event: a repeated batch finds the runs it has started.
 */
export function startEventTriggers(
  { consume, database }: ServiceContext,
  { starting, deliver = async () => {} }: EventTriggersOptions,
): EventConsumer {
  const start = async (
    { event, workflow: { tenant, state } }: Match,
    depths: ReadonlyMap<string, number>,
  ) => {
    const cause = depths.get(causingRun(event) ?? '')
    await starting.start(tenant, state, {
      type: 'event',
      id: event.id,
      at: event.createdAt,
      event: eventBody(event),
      input: null,
      depth: cause === undefined ? 0 : cause + 1,
      requestId: event.requestId,
      causationId: event.id,
    })
  }

  return consume({
    durable: 'workflows-triggers',
    perform: async (events, { origins }) => {
      const matches = await matchesOf(database, events, origins)
      const depths = await depthsOf(
        database,
        matches.flatMap(({ event }) => causingRun(event) ?? []),
      )
      for (let from = 0; from < matches.length; from += startsAtOnce)
        await Promise.all(matches.slice(from, from + startsAtOnce).map((match) => start(match, depths)))
      await deliver(events)
    },
  })
}

/** The run that an event tells of, or that it was caused by. */
function causingRun({ resource, causationId }: PlatformEvent): string | undefined {
  if (resource.id.startsWith('run_')) return resource.id
  return causationId?.startsWith('run_') ? causationId : undefined
}

async function matchesOf(
  database: ServiceContext['database'],
  events: readonly PlatformEvent[],
  origins: readonly EventOrigin[],
): Promise<Match[]> {
  const candidates = await candidatesFor(database, events.flatMap(keysOfEvent))
  if (candidates.length === 0) return []
  const byKey = new Map<string, Candidate[]>()
  for (const candidate of candidates)
    for (const key of candidate.keys) byKey.set(key, [...(byKey.get(key) ?? []), candidate])
  return events.flatMap((event, at) => {
    const { source = null, position = null } = origins[at] ?? {}
    const found = new Set(keysOfEvent(event).flatMap((key) => byKey.get(key) ?? []))
    return [...found]
      .filter(({ state }) => startsBy(state, event, { source, position }))
      .map((workflow) => ({ event, workflow }))
  })
}
