import {
  type CommandMeta,
  type IncidentComment,
  type IncidentState,
  newId,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import { preconditionFailed, type RequiresUnchanged, type Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { configurationItem } from '../../cmdb/item/item-domain.js'
import { itemStatus } from '../../cmdb/queries.js'
import type { IncidentStore } from '../incident-store.js'
import { isAfterClosure, toFollowUpInput } from './post-closure-comment.js'

type FollowUpContext = Pick<ServiceContext, 'store' | 'database'>

/** Follows the chain from an ended incident to its follow-ups, and returns the last one. */
async function findLastFollowUp(
  unit: Unit,
  incidents: IncidentStore,
  comment: IncidentComment,
  meta: CommandMeta,
) {
  let found = await unit.find(incidents, comment.incidentId)
  if (found && meta.expectedVersion !== undefined && meta.expectedVersion !== found.version)
    throw preconditionFailed(found.version)
  while (found?.state.followUpId && isAfterClosure(comment, found.state))
    found = await unit.find(incidents, found.state.followUpId)
  if (found === null) throw notFound()
  return found.state
}

/**
 * Stores a comment that a caller adds after the end of their incident, which itself stays ended. The comment goes to
 * the follow-up incident, which is opened if there is none or if the last one has ended too. See ADR 027.
 */
export function commentAfterClosure(
  ctx: FollowUpContext,
  incidents: IncidentStore,
  comment: IncidentComment,
  meta: CommandMeta,
): Promise<IncidentComment> {
  const { expectedVersion: _, ...rest } = meta
  const { now } = meta
  const storeComment = async (unit: Unit) => {
    const last = await findLastFollowUp(unit, incidents, comment, meta)
    const id = isAfterClosure(comment, last) ? await openFollowUp(ctx, unit, incidents, last, meta) : last.id
    const kept = { ...comment, incidentId: id }
    await unit.handle(incidents, id, { kind: 'comment', comment: kept, now })
    return kept
  }
  return ctx.store.transact(rest, storeComment, { queueKey: comment.incidentId })
}

async function openFollowUp(
  ctx: FollowUpContext,
  unit: Unit,
  incidents: IncidentStore,
  endedIncident: IncidentState,
  { tenant, actor: by, now }: CommandMeta,
): Promise<string> {
  const [settings, next, ciId] = await Promise.all([
    incidents.getSettings(tenant),
    ctx.store.numbers.next(tenant.workspaceId, 'incident'),
    findUsableItem(ctx, endedIncident, tenant, unit),
  ])
  const id = newId('incident')
  const input = toFollowUpInput({ ...endedIncident, ciId })
  await unit.handle(incidents, endedIncident.id, { kind: 'follow_up', followUpId: id, now })
  const command = { id, number: `INC-${next}`, by, now, settings, input, followsUpOn: endedIncident.id }
  await unit.create(incidents, id, { kind: 'create', ...command })
  return id
}

/**
 * A retired or deleted item gets no new incidents. The follow-up
 * is then opened without it, so that the comment is not lost.
 */
async function findUsableItem(
  { database }: FollowUpContext,
  { ciId }: IncidentState,
  tenant: TenantScope,
  unit: RequiresUnchanged,
): Promise<string | null> {
  if (ciId === null) return null
  const status = await itemStatus(database.db, tenant, ciId)
  if (status === undefined || status === 'retired') return null
  unit.requireUnchanged(configurationItem, ciId, { status })
  return ciId
}
