import { consumeEvents, type EventConsumer } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { appendToChains } from './append.js'

/** Writes every event of the platform into the audit log, each once however often it comes. */
export function recordAudit(context: ServiceContext): EventConsumer {
  const { database, link, names, log, clock, logs } = context
  return consumeEvents({
    ...{ database, link, names, log },
    durable: 'settings-audit-log',
    spacingMs: 250,
    history: { of: 'all', logs },
    perform: (events) => appendToChains(database.sql, events, clock.now()),
  })
}
