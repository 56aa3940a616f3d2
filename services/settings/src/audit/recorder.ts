import { auditedEvent } from '@opsplane/contracts'
import type { EventConsumer } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { appendToChains } from './append.js'
import type { AuditTails } from './live/tails.js'

/**
 * Minimum spacing of batches in milliseconds, because batches are far cheaper than single events. The shorter spacing
 * applies while this replica has open event streams, whose readers wait for new events.
 */
const [spacingMs, followedSpacingMs] = [500, 30]

/** Writes every event of the platform to the audit log, each once even if redelivered, and wakes its readers. */
export function recordAudit(
  { consume, database, clock }: ServiceContext,
  tails: Pick<AuditTails, 'grown' | 'isFollowed'>,
): EventConsumer {
  return consume({
    durable: 'settings-audit-log',
    spacingMs: () => (tails.isFollowed() ? followedSpacingMs : spacingMs),
    history: 'all',
    async perform(events) {
      await appendToChains(database.sql, events.map(auditedEvent), clock.now())
      tails.grown()
    },
  })
}
