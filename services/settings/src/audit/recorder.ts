import { auditedEvent } from '@opsplane/contracts'
import type { EventConsumer } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { appendToChains } from './append.js'

/** Writes every event of the platform into the audit log, each once however often it comes. */
export function recordAudit({ consume, database, clock }: ServiceContext): EventConsumer {
  return consume({
    durable: 'settings-audit-log',
    spacingMs: 500,
    history: 'all',
    perform: (events) => appendToChains(database.sql, events.map(auditedEvent), clock.now()),
  })
}
