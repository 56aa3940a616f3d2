import { expect } from '@jest/globals'
import { type Receiver, waitFor } from '@opsplane/testing'
import type { Sql } from 'postgres'
import type { CreateLoad } from './crash-load.js'
import { listEventsInStream } from './event-trail.js'

/** Places in which the effects of a load must be found. */
export interface Traces {
  sql: Sql
  natsUrl: string
  /** Receiver of a webhook for `incident.created` and `incident.updated`. */
  receiver: Receiver
}

const patience = { intervalMs: 500 }

/**
 * Checks that every acknowledged incident and change is stored, in the log, in the stream, in the audit log, and
 * delivered, and that nothing is waiting to be published.
 */
export async function expectNothingLost(traces: Traces, load: CreateLoad): Promise<void> {
  await everyIncidentIsStoredOnce(traces, load)
  const events = await everyVersionIsInTheLog(traces, load)
  await everyEventIsInTheStream(traces, events)
  await everyEventIsInTheAudit(traces, events)
  await everyEventIsDelivered(traces, events)
  await everyOutboxIsEmpty(traces)
}

async function everyIncidentIsStoredOnce({ sql }: Traces, { acknowledged }: CreateLoad): Promise<void> {
  const rows = await sql<{ id: string; title: string }[]>`
    select id, state->>'title' as title from itsm.incidents where state->>'title' = any (${[...acknowledged.keys()]})`
  const idsByTitle = new Map<string, string[]>()
  for (const { id, title } of rows) idsByTitle.set(title, [...(idsByTitle.get(title) ?? []), id])
  for (const [key, id] of acknowledged) expect(idsByTitle.get(key)).toEqual([id])
}

interface LoggedEvent {
  id: string
  incidentId: string
  version: number
}

/** In log order: the versions of each aggregate have no gaps, and include every acknowledged change. */
async function everyVersionIsInTheLog(
  { sql }: Traces,
  { acknowledged, changed }: CreateLoad,
): Promise<LoggedEvent[]> {
  const events = await sql<LoggedEvent[]>`
    select id, stream_id as "incidentId", version from itsm.events
     where stream_id = any (${[...acknowledged.values()]}) order by position`
  const last = new Map<string, number>()
  for (const { incidentId, version } of events) {
    expect(version).toBe((last.get(incidentId) ?? 0) + 1)
    last.set(incidentId, version)
  }
  for (const id of acknowledged.values()) {
    const known = 1 + (changed.get(id) ?? 0)
    expect(last.get(id)).toBeGreaterThanOrEqual(known)
    // The request in flight at the end may have taken effect.
    expect(last.get(id)).toBeLessThanOrEqual(known + 1)
  }
  return events
}

/** A stream that was lost or restored to an earlier state is refilled automatically. */
async function everyEventIsInTheStream({ natsUrl }: Traces, events: LoggedEvent[]): Promise<void> {
  await nothingMissing('in the stream', events, async () => {
    return new Set(await listEventsInStream(natsUrl).catch(() => []))
  })
}

async function everyEventIsInTheAudit({ sql }: Traces, events: LoggedEvent[]): Promise<void> {
  await nothingMissing('in the audit log', events, async () => {
    const rows = await sql<{ id: string }[]>`
      select id from settings.audit_log where id = any (${events.map(({ id }) => id)})`
    return new Set(rows.map(({ id }) => id))
  })
}

async function everyEventIsDelivered({ receiver }: Traces, events: LoggedEvent[]): Promise<void> {
  await nothingMissing('delivered', events, async () => {
    return new Set(receiver.received().map(({ headers }) => String(headers['x-service-delivery'])))
  })
}

/** A row that a relay has skipped would stay in its outbox forever, even if the event is in the stream. */
async function everyOutboxIsEmpty({ sql }: Traces): Promise<void> {
  await waitFor(
    async () => {
      const waiting = await sql`
        select position from itsm.outbox union all select position from settings.outbox
        union all select position from dispatcher.outbox limit 1`
      return waiting.length === 0
    },
    { ...patience, message: 'every outbox to be empty' },
  )
}

async function nothingMissing(
  where: string,
  events: LoggedEvent[],
  found: () => Promise<Set<string>>,
): Promise<void> {
  let missing: LoggedEvent[] = events
  await waitFor(
    async () => {
      const ids = await found()
      missing = events.filter(({ id }) => !ids.has(id))
      return missing.length === 0
    },
    { ...patience, message: `every event to be ${where}` },
  ).catch((cause: unknown) => {
    const some = missing.slice(0, 5).map(({ id, version }) => `${id} (version ${version})`)
    throw new Error(`${missing.length} of ${events.length} events are not ${where}: ${some.join(', ')}`, {
      cause,
    })
  })
}
