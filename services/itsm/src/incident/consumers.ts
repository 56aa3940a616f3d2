import type { ItsmEventType } from '@opsplane/contracts'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { SettingsStore } from '../settings/settings-store.js'
import { autoCloseWork } from './auto-close.js'
import type { IncidentStore } from './incident-store.js'
import { createMajorProposals } from './major/major-proposals.js'
import { createCascade } from './parent-child/cascade.js'

/** What can tell of another status of an incident that has children, or of another child. */
const familyEvents: readonly ItsmEventType[] = [
  'incident.updated',
  'incident.assigned',
  'incident.resolved',
  'incident.reopened',
]

/** What can tell of another priority, item or number of children. */
const ruledEvents: readonly ItsmEventType[] = ['incident.created', 'incident.updated']

/** What follows from what happens to incidents, and from nothing happening to them. */
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
      // People take longer to look: few large batches.
      spacingMs: 500,
      types: ruledEvents,
      perform: (events) => proposals.handle(events),
    }),
  ]
}
