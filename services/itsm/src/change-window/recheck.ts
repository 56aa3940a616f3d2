import { type CommandMeta, type PlatformEvent, storedState, systemActor } from '@opsplane/contracts'
import { type BackendContext, type Closable, consumeEvents } from '@opsplane/eventstore'
import { change } from '../change/domain.js'
import { affectedBy } from './affected.js'
import { waiting } from './notice.js'
import { conflictsOf } from './surroundings.js'

/**
 * Keeps the conflicts of changes that wait for their time as other changes and windows come and go. An event only
 * says which changes to look at: what they collide with is worked out from things as they are, under a lock, so that
 * events that come twice, late or at the same time to several replicas tell nothing twice.
 */
export function recheckConflicts(ctx: BackendContext): Closable[] {
  const { store, clock, database, relay } = ctx
  const changes = store.aggregate(change)

  const recheck = (id: string, meta: CommandMeta) =>
    database.sql.begin(async (tx) => {
      const { workspaceId, environment } = meta.tenant
      const [row] = await tx.unsafe<{ state: unknown; version: number }[]>(
        'select state, version from changes where workspace_id = $1 and environment = $2 and id = $3 for update',
        [workspaceId, environment, id],
      )
      if (!row) return
      const current = { state: storedState(change, row.state), version: row.version }
      if (!waiting.includes(current.state.status)) return
      const conflicts = await conflictsOf(tx, meta.tenant, current.state)
      const command = { kind: 'notice', conflicts, now: meta.now } as const
      await store.within(tx, meta, (unit) => unit.handle(changes, id, command, { current }))
    })

  const heed = async (event: PlatformEvent) => {
    const { id: causationId, workspaceId, environment } = event
    const tenant = { workspaceId, environment }
    for (const id of await affectedBy(database.sql, event))
      await recheck(id, { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId })
  }

  // A consumer for each, as servers before 2.10 take one filter, and one for both would let everything through.
  const consume = (durable: string, pattern: string) =>
    consumeEvents({
      database,
      link: ctx.link,
      names: ctx.names,
      log: ctx.log,
      durable,
      filterSubjects: ctx.names.eventFilters([pattern]),
      perform: async (events) => {
        for (const event of events) await heed(event)
        relay.wake()
      },
    })
  return [consume('itsm-change-conflicts', 'change.*'), consume('itsm-window-conflicts', 'change_window.*')]
}
