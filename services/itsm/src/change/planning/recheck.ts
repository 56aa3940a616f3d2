import { type PlatformEvent, type TenantScope, tenantKey } from '@opsplane/contracts'
import type { BackgroundWork, ServiceConsumer, ServiceContext } from '@opsplane/service'
import { type AffectedChange, findAffected } from '../../change-window/affected.js'
import { findAffectedByItems, itemEvents } from '../../change-window/affected-by-items.js'
import { createTenantLinks, type TenantLinks } from '../../change-window/impact-links.js'
import type { StatementRunner } from '../../cmdb/impact/impact-graph.js'
import { createConflictUpdates } from './conflict-updates.js'

/**
 * Updates the conflicts of pending changes when other changes, windows or relations change. An event only selects the
 * changes to check. Conflicts are computed from the current state under a lock, so events that are duplicated, late, or
 * handled concurrently by several replicas report nothing twice.
 */
export function recheckConflicts(ctx: ServiceContext): BackgroundWork[] {
  const { database } = ctx
  const notices = createConflictUpdates(ctx)

  /**
   * Checks each change of a batch once, because the result depends on the current
   * state and not on the event. Most conflicts are up to date, which is determined
   * without a lock and with the relations of the tenant read once for all changes.
   */
  const recheckAll = async (affected: readonly AffectedChange[], tenantLinks: TenantLinks) => {
    for (const { tenant, own } of byTenant(affected))
      for (const some of chunks(own, 100)) {
        const links = tenantLinks(tenant)
        const outdated = await notices.findOutdated(tenant, some, links)
        // Limits how long rows stay locked: one read of all relations, or a few walks.
        const whole = links.inMemory()
        for (const few of chunks(outdated, whole ? 50 : 5)) await notices.writeAll(tenant, few, whole)
      }
  }

  // A separate consumer each, because they read and batch differently. NATS stores their names.
  const consume = (
    durable: string,
    patterns: readonly string[],
    affectedBy: (
      runner: StatementRunner,
      events: readonly PlatformEvent[],
      tenantLinks: TenantLinks,
    ) => Promise<AffectedChange[]>,
    batching: Pick<ServiceConsumer, 'maxBatch' | 'maxAckPending'> = {},
  ) =>
    ctx.consume({
      durable,
      types: patterns,
      ...batching,
      perform: async (events) => {
        const tenantLinks = createTenantLinks(database.sql)
        await recheckAll(await affectedBy(database.sql, events, tenantLinks), tenantLinks)
      },
    })
  return [
    consume('itsm-change-conflicts', ['change.*'], findAffected),
    consume('itsm-window-conflicts', ['change_window.*'], findAffected),
    // Events that arrive while a batch is being handled form the next
    // batch. For an import, that is everything delivered at a time.
    consume('itsm-item-conflicts', itemEvents, findAffectedByItems, {
      maxBatch: 5_000,
      maxAckPending: 5_000,
    }),
  ]
}

function byTenant(affected: readonly AffectedChange[]): { tenant: TenantScope; own: AffectedChange[] }[] {
  const tenants = new Map<string, { tenant: TenantScope; own: AffectedChange[] }>()
  for (const each of affected) {
    const { workspaceId, environment } = each.event
    const key = tenantKey(each.event)
    const of = tenants.get(key) ?? { tenant: { workspaceId, environment }, own: [] }
    tenants.set(key, of)
    of.own.push(each)
  }
  return [...tenants.values()]
}

function* chunks<Value>(values: readonly Value[], size: number): Generator<Value[]> {
  for (let from = 0; from < values.length; from += size) yield values.slice(from, from + size)
}
