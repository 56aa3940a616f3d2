import type { ItsmEventType } from '@opsplane/contracts'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { SettingsStore } from '../settings/settings-store.js'
import { autoCloseWork } from './auto-close.js'
import type { IncidentStore } from './incident-store.js'
import { createMajorProposals } from './major/major-proposals.js'
import { createCascade } from './parent-child/cascade.js'

/** Events that can report a new status of an incident with children. */
const familyEvents: readonly ItsmEventType[] = [
  'incident.updated',
  'incident.assigned',
  'incident.resolved',
  'incident.reopened',
]

/** Events that can report a new priority, item or number of children. */
const ruledEvents: readonly ItsmEventType[] = ['incident.created', 'incident.updated']

/** Consumers that react to incident events, and the due work that closes resolved incidents. */
export function incidentConsumers(
  ctx: ServiceContext,
  incidents: IncidentStore,
  settings: SettingsStore,
): BackgroundWork[] {
  const cascade = createCascade(ctx, incidents)
  const proposals = createMajorProposals(ctx, incidents, settings)
  ctx.dueWork.start(autoCloseWork(ctx, incidents))
  return [
    ctx.consume({
      durable: 'itsm-incident-families',
      spacingMs: 200,
      types: familyEvents,
      perform: (events) => cascade.handle(events),
    }),
    ctx.consume({
      durable: 'itsm-major-proposals',
      // People do not notice this delay, so prefer few large batches.
      spacingMs: 500,
      types: ruledEvents,
      perform: (events) => proposals.handle(events),
    }),
  ]
}
