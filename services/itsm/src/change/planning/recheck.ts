import { type PlatformEvent, type TenantScope, tenantKey } from '@opsplane/contracts'
import type { BackgroundWork, ServiceConsumer, ServiceContext } from '@opsplane/service'
import { type AffectedChange, findAffected } from '../../change-window/affected.js'
import { findAffectedByItems, itemEvents } from '../../change-window/affected-by-items.js'
import { createTenantLinks, type TenantLinks } from '../../change-window/impact-links.js'
import type { StatementRunner } from '../../cmdb/impact/impact-graph.js'
import { createConflictUpdates } from './conflict-updates.js'

/**
 * Keeps the conflicts of changes that wait for their time as other changes, windows and relations come and go. An event
 * only says which changes to look at: what they collide with is worked out from things as they are, under a lock, so
 * that events that come twice, late or at the same time to several replicas tell nothing twice.
 */
export function recheckConflicts(ctx: ServiceContext): BackgroundWork[] {
  const { database } = ctx
  const notices = createConflictUpdates(ctx)

  /**
   * Of a batch each change once: it is worked out from things as they are, whichever event it was that reported them.
   * Most are as they should be, which is seen without a lock, by relations read once for all of them.
   */
  const recheckAll = async (affected: readonly AffectedChange[], tenantLinks: TenantLinks) => {
    for (const { tenant, own } of byTenant(affected))
      for (const some of chunks(own, 100)) {
        const links = tenantLinks(tenant)
        const outdated = await notices.findOutdated(tenant, some, links)
        // What is locked waits no longer than for one reading of the relations, or for a few walks.
        const whole = links.inMemory()
        for (const few of chunks(outdated, whole ? 50 : 5)) await notices.writeAll(tenant, few, whole)
      }
  }

  // A consumer for each: they read and batch differently, and NATS stores their names.
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
    // What arrives while a batch is handled is the next one: of an import, as much as is delivered at a time.
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
