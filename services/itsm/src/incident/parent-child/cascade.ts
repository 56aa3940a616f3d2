import {
  ApiError,
  type CommandMeta,
  type IncidentState,
  type PlatformEvent,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { type Unit, VersionRaceError } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { isDedupKeyConflict } from '../dedup-key.js'
import type { IncidentStore } from '../incident-store.js'
import { type Cursor, findChildren, findLeadingEvent, type LeadingEvent, lockFamily } from './cascade-rows.js'
import { findChildSteps } from './parent-child.js'

export interface CascadeContext extends Pick<ServiceContext, 'database' | 'store' | 'clock'> {}

/** Number of children updated in one transaction. */
export const familyBatch = 100
/** Maximum attempts of a transaction that loses races for children. */
const maxTries = 10

/**
 * Makes children follow their parents. An event only selects the parent to check; its status is read from the log, so
 * duplicated, late or reordered events do no harm.
 */
export function createCascade(ctx: CascadeContext, incidents: IncidentStore) {
  const { database, store, clock } = ctx
  const meta = (tenant: TenantScope, causationId: string): CommandMeta => ({
    tenant,
    actor: systemActor,
    now: clock.now(),
    requestId: null,
    causationId,
  })

  async function handle(events: readonly PlatformEvent[]): Promise<void> {
    const families = new Map<string, TenantScope>()
    for (const event of events) {
      const { changes, after } = event.data
      const count = after?.childCount
      if (typeof count !== 'number' || count === 0) continue
      const { workspaceId, environment } = event
      const tenant = { workspaceId, environment }
      if (changes.includes('status') || changes.includes('holdReason'))
        families.set(event.resource.id, tenant)
    }
    for (const [parentId, tenant] of families) await follow(parentId, tenant)
  }

  /**
   * Works in batches, so that a large family is neither one large
   * transaction nor restarted from the beginning after a stop.
   */
  async function follow(parentId: string, tenant: TenantScope): Promise<void> {
    let batch: Batch = { after: null, limit: familyBatch }
    for (let tries = 1; ; tries++) {
      try {
        const last = await followBatch(parentId, tenant, batch)
        if (last === undefined) return
        batch = { after: last, limit: familyBatch }
        tries = 0
      } catch (error) {
        batch = shrinkBatch(batch, error, tries)
      }
    }
  }

  /** Returns the last child of the batch; `undefined` after the last batch. */
  async function followBatch(
    parentId: string,
    tenant: TenantScope,
    batch: Batch,
  ): Promise<Cursor | undefined> {
    const last = await database.sql.begin(async (tx) => {
      // Locks out concurrent cascades that have read an older state of the parent.
      await lockFamily(tx, parentId)
      const lead = await findLeadingEvent(tx, tenant, parentId)
      if (lead === undefined) return undefined
      const children = await findChildren(tx, tenant, lead, batch.after, batch.limit)
      const commandMeta = meta(tenant, lead.eventId)
      const led = batch.passOver ? [] : children
      await store.within(tx, commandMeta, (unit) => leadAll(unit, lead, led, commandMeta.now))
      return children.length < batch.limit ? undefined : children.at(-1)
    })
    return last && { createdAt: last.state.createdAt, id: last.state.id }
  }

  async function leadAll(
    unit: Unit,
    lead: LeadingEvent,
    children: readonly { state: IncidentState; version: number }[],
    now: string,
  ): Promise<void> {
    for (const current of children) {
      for (const step of findChildSteps(lead.parent, current.state))
        await unit.handle(incidents, current.state.id, { ...step, cause: 'parent', now }, { current })
    }
  }

  return { handle }
}

interface Batch {
  after: Cursor | null
  limit: number
  /** Whether to skip these children because they cannot follow. */
  passOver?: boolean
}

/** Returns the batch for the next attempt. Rethrows errors that a smaller batch cannot avoid. */
function shrinkBatch({ after, limit }: Batch, error: unknown, tries: number): Batch {
  const isDedupKeyTaken = isDedupKeyConflict(error)
  // No aggregate is created here, so any other unique violation is a lost race against a concurrent write to the child.
  const raced = error instanceof VersionRaceError || (error instanceof ApiError && error.code === 'conflict')
  if (!isDedupKeyTaken && (!raced || tries >= maxTries)) throw error
  // Another incident with its dedup key is open by now. This child stays resolved, and the others follow.
  if (isDedupKeyTaken && limit === 1) return { after, limit, passOver: true }
  return { after, limit: Math.max(1, Math.floor(limit / 4)) }
}
