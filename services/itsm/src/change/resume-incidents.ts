import {
  type ChangeEventType,
  type CommandMeta,
  type PlatformEvent,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { type BackendContext, type Closable, consumeEvents } from '@opsplane/eventstore'
import { incident } from '../incident/domain.js'
import { incidentsAwaiting } from './queries.js'

const ending: readonly ChangeEventType[] = [
  'change.completed',
  'change.rolled_back',
  'change.canceled',
  'change.closed',
]

/** Incidents on hold for a change go on once it is over: it has helped, or somebody has to see to it otherwise. */
export function resumeIncidents(ctx: BackendContext): Closable {
  const { store, clock, database } = ctx
  const incidents = store.aggregate(incident)

  /** Left as it is where it went on since it was looked for. */
  const resume = (id: string, changeId: string, meta: CommandMeta) =>
    store.transact(meta, async (unit) => {
      const found = await unit.find(incidents, id)
      if (!found || found.state.changeId !== changeId || found.state.holdReason !== 'awaiting_change') return
      await unit.handle(incidents, id, { kind: 'resume', now: meta.now }, { current: found })
    })

  const heed = async ({ id: eventId, resource, workspaceId, environment }: PlatformEvent) => {
    const tenant: TenantScope = { workspaceId, environment }
    const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId: eventId }
    // What an event has resumed once and somebody put on hold again stays so when the event comes again.
    for (const id of await incidentsAwaiting(database.db, tenant, resource.id, eventId))
      await resume(id, resource.id, meta)
  }

  return consumeEvents({
    database,
    link: ctx.link,
    names: ctx.names,
    log: ctx.log,
    durable: 'itsm-change-resume',
    filterSubjects: ctx.names.eventFilters([...ending]),
    perform: async (events) => {
      for (const event of events) await heed(event)
    },
  })
}
