import {
  type CommandMeta,
  type IncidentState,
  itsmEvents,
  type PlatformEvent,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { incident } from '../incident/domain.js'
import { changeEndEvents } from '../links/change-end.js'
import { findEndedChange } from '../links/change-link.js'
import { findIncidentsAwaitingChange } from './queries.js'

/**
 * Returns the change an incident is on hold for. An incident that is on hold with its parent resumes with the
 * parent.
 */
function findAwaitedChange(state: IncidentState | null): string | null {
  return state?.holdReason === 'awaiting_change' && !state.followsParent ? state.changeId : null
}

/** Resumes the incidents on hold for a change once it has ended, whatever its outcome. */
export function resumeIncidents(ctx: ServiceContext): BackgroundWork[] {
  const { store, clock, database } = ctx
  const incidents = store.aggregate(incident)

  /** Does nothing if the incident has been resumed in the meantime. */
  const resume = (id: string, changeId: string, meta: CommandMeta) =>
    store.transact(meta, async (unit) => {
      const found = await unit.find(incidents, id)
      if (!found || found.state.changeId !== changeId || found.state.holdReason !== 'awaiting_change') return
      const step = { kind: 'resume', cause: 'change', now: meta.now } as const
      await unit.handle(incidents, id, step, { current: found })
    })

  /**
   * Handles an incident that began to wait after its change had ended, because of a race with the end or a late link.
   * If the change ends only after this check, the event of its end is handled later and finds the incident waiting.
   */
  const onLateWait = async ({ id: eventId, resource, data, workspaceId, environment }: PlatformEvent) => {
    const tenant: TenantScope = { workspaceId, environment }
    const changeId = findAwaitedChange(itsmEvents['incident.updated'].data.parse(data).after)
    if (changeId === null || !(await findEndedChange(database.db, tenant, changeId))) return
    const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId: eventId }
    await resume(resource.id, changeId, meta)
  }

  const onEnded = async ({ id: eventId, resource, workspaceId, environment }: PlatformEvent) => {
    const tenant: TenantScope = { workspaceId, environment }
    const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId: eventId }
    // An incident put on hold again after this event stays on hold when the event is redelivered.
    for (const id of await findIncidentsAwaitingChange(database.db, tenant, resource.id, eventId))
      await resume(id, resource.id, meta)
  }

  const consume = (durable: string, types: string[], react: (event: PlatformEvent) => Promise<void>) =>
    ctx.consume({
      durable,
      types,
      perform: async (events) => {
        for (const event of events) await react(event)
      },
    })
  // Separate consumers: the only common filter of these types is
  // every event, and an older NATS server would deliver that.
  return [
    consume('itsm-change-resume', [...changeEndEvents], onEnded),
    consume('itsm-change-late-waits', ['incident.updated'], onLateWait),
  ]
}
