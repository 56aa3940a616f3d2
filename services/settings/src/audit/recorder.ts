import { auditedEvent } from '@opsplane/contracts'
import type { EventConsumer } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { appendToChains } from './append.js'
import type { AuditTails } from './live/tails.js'

/** Batches are far cheaper than events by themselves; where streams of events are open here, readers wait for them. */
const [spacingMs, followedSpacingMs] = [500, 30]

/** Writes every event of the platform into the audit log, each once however often it comes, and wakes those who read it. */
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
