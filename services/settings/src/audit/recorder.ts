import type { PlatformEvent } from '@opsplane/contracts'
import { type BackendContext, consumeEvents, type EventConsumer } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { auditLog } from '../schema.js'

/** Writes every event of the platform into the audit log, each once however often it comes. */
export function recordAudit(context: BackendContext): EventConsumer {
  const { database, link, names, log } = context
  return consumeEvents({
    ...{ database, link, names, log },
    durable: 'settings-audit-log',
    handle: (events, tx) => insertEvents(tx, events),
  })
}

async function insertEvents(tx: Pick<Drizzle, 'insert'>, events: PlatformEvent[]): Promise<void> {
  const rows = events.map((event) => ({
    id: event.id,
    workspaceId: event.workspaceId,
    environment: event.environment,
    version: event.version,
    state: { ...event },
  }))
  await tx.insert(auditLog).values(rows).onConflictDoNothing()
}
