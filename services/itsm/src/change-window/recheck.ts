import { type CommandMeta, type PlatformEvent, storedState, systemActor } from '@opsplane/contracts'
import { type BackendContext, type Closable, consumeEvents, type Transaction } from '@opsplane/eventstore'
import { sql } from 'drizzle-orm'
import { change } from '../change/domain.js'
import type { StatementRunner } from '../cmdb/impact-graph.js'
import { type Affected, affectedByAny } from './affected.js'
import { affectedByItems, itemEvents } from './affected-by-items.js'
import { waiting } from './notice.js'
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

  /** Of a batch each change once: it is worked out from things as they are, whichever event it was that told of them. */
  const recheckAll = async (affected: readonly Affected[], tx: Transaction) => {
    for (const { id, event } of affected) {
      const { id: causationId, workspaceId, environment } = event
      const tenant = { workspaceId, environment }
      await recheck(id, { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId })
      // The consumer's own transaction is open meanwhile, and would be ended if it lay idle for long.
      await tx.execute(sql`select 1`)
    }
    relay.wake()
  }

  // A consumer for each, as servers before 2.10 take one filter, and one for all would let everything through.
  const consume = (
    durable: string,
    patterns: readonly string[],
    affected: (runner: StatementRunner, events: readonly PlatformEvent[]) => Promise<Affected[]>,
    batching: { maxBatch?: number } = {},
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
      handle: async (events, tx) => recheckAll(await affected(database.sql, events), tx),
    })
  return [
    consume('itsm-change-conflicts', ['change.*'], affectedByAny),
    consume('itsm-window-conflicts', ['change_window.*'], affectedByAny),
    // What arrives while a batch is handled is the next one: of an import, as much as is delivered at a time.
    consume('itsm-item-conflicts', itemEvents, affectedByItems, { maxBatch: 1_000 }),
  ]
}
