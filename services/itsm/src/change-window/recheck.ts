import { type CommandMeta, type PlatformEvent, storedState, systemActor } from '@opsplane/contracts'
import {
  type BackendContext,
  type Closable,
  type ConsumeEventsOptions,
  consumeEvents,
} from '@opsplane/eventstore'
import { change } from '../change/domain.js'
import type { ImpactGraph } from '../cmdb/impact.js'
import type { StatementRunner } from '../cmdb/impact-graph.js'
import { type Affected, affectedByAny } from './affected.js'
import { affectedByItems, itemEvents } from './affected-by-items.js'
import { rememberedGraph } from './closure.js'
import { noticed, waiting } from './notice.js'
import { conflictsOf } from './surroundings.js'

/**
 * Keeps the conflicts of changes that wait for their time as other changes, windows and relations come and go. An event
 * only says which changes to look at: what they collide with is worked out from things as they are, under a lock, so
 * that events that come twice, late or at the same time to several replicas tell nothing twice.
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

  /**
   * Of a batch each change once: it is worked out from things as they are, whichever event it was that told of them.
   * Most are as they should be, which is seen without a lock, by relations read once for all of them.
   */
  const recheckAll = async (affected: readonly Affected[]) => {
    const graphs = new Map<string, ImpactGraph>()
    for (const { id, event } of affected) {
      const { id: causationId, workspaceId, environment } = event
      const tenant = { workspaceId, environment }
      const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId }
      const graph = graphs.get(`${workspaceId}/${environment}`) ?? rememberedGraph(database.sql, tenant)
      graphs.set(`${workspaceId}/${environment}`, graph)
      if (await isOutdated(id, meta, graph)) await recheck(id, meta)
    }
    relay.wake()
  }

  const isOutdated = async (id: string, { tenant, now }: CommandMeta, graph: ImpactGraph) => {
    const current = await changes.find(id, tenant)
    if (!current || !waiting.includes(current.state.status)) return false
    const conflicts = await conflictsOf(database.sql, tenant, current.state, graph)
    return noticed({ kind: 'notice', conflicts, now }, current.state).length > 0
  }

  // A consumer for each, as servers before 2.10 take one filter, and one for all would let everything through.
  const consume = (
    durable: string,
    patterns: readonly string[],
    affected: (runner: StatementRunner, events: readonly PlatformEvent[]) => Promise<Affected[]>,
    batching: Pick<ConsumeEventsOptions, 'maxBatch' | 'maxAckPending'> = {},
  ) =>
    consumeEvents({
      database,
      link: ctx.link,
      names: ctx.names,
      log: ctx.log,
      durable,
      filterSubjects: ctx.names.eventFilters(patterns),
      ackWaitMs: 120_000,
      ...batching,
      perform: async (events) => recheckAll(await affected(database.sql, events)),
    })
  return [
    consume('itsm-change-conflicts', ['change.*'], affectedByAny),
    consume('itsm-window-conflicts', ['change_window.*'], affectedByAny),
    // What arrives while a batch is handled is the next one: of an import, as much as is delivered at a time.
    consume('itsm-item-conflicts', itemEvents, affectedByItems, { maxBatch: 5_000, maxAckPending: 5_000 }),
  ]
}
