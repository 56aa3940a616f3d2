import { deliveryBody, type PlatformEvent, parseExact, stringifyExact } from '@opsplane/contracts'
import { findEventCause } from '@opsplane/http'
import type { WebhookState } from '../../webhook/domain.js'
import { type Target, toTarget } from '../../webhook/target.js'
import { type DeliveryJob, formatBody } from '../job.js'
import type { OrderingQueues } from '../ordering/ordering-queues.js'
import type { DeliveryQueues } from './delivery-queues.js'
import type { Claimed, QueueRows } from './queue-statements.js'

export interface ClaimedJobsOptions {
  deliveries: Pick<QueueRows, 'release' | 'failWithoutEvent'>
  leaseMs: number
  queues: Pick<DeliveryQueues<DeliveryJob>, 'reserve' | 'submit'>
  ordering: Pick<OrderingQueues, 'finish'>
}

/**
 * Enqueues in memory deliveries that were leased at `leasedAt` or later. Releases those that find no room, or whose
 * webhook was changed during the claim. Resolves with the number that found room or may find it now.
 */
export async function enqueueClaimed(
  claimed: readonly Claimed[],
  leasedAt: number,
  { deliveries, leaseMs, queues, ordering }: ClaimedJobsOptions,
): Promise<number> {
  const overflow: string[] = []
  const changed: string[] = []
  const withoutEvent: Claimed[] = []
  const sendBefore = leasedAt + leaseMs * 0.9
  const targets = new Map<string, Target>()
  for (const row of claimed) {
    const { id, webhook_id: webhookId, workspace_id: workspaceId, bytes, event, state } = row
    const target = targets.get(webhookId) ?? (state === null ? null : targetIn(row, state))
    if (target) targets.set(webhookId, target)
    if (event === null) withoutEvent.push(row)
    else if (target === null) changed.push(id)
    else if (!queues.reserve({ webhookId, workspaceId, bytes }, target.rateLimitPerSecond)) overflow.push(id)
    else queues.submit(claimedJob(row, event, target, sendBefore))
  }
  await deliveries.release([...overflow, ...changed])
  await deliveries.failWithoutEvent(withoutEvent.map(({ id }) => id))
  for (const row of withoutEvent) ordering.finish(row.webhook_id, row.ordering_key)
  return claimed.length - overflow.length
}

const targetIn = ({ webhook_id: id, ...row }: Claimed, state: string): Target =>
  toTarget({ ...row, id, state: parseExact(state) as WebhookState })

function claimedJob(row: Claimed, eventText: string, target: Target, sendBefore: number): DeliveryJob {
  const event = parseExact(eventText) as PlatformEvent
  const body = deliveryBody(event, target.id)
  return {
    deliveryId: row.id,
    webhookId: target.id,
    workspaceId: target.tenant.workspaceId,
    target,
    content: {
      ...{ id: event.id, type: event.type, text: formatBody(body, stringifyExact(body.data)) },
      cause: findEventCause(event),
    },
    bytes: row.bytes,
    queueClass: row.attempts > row.cycle_base ? 'retry' : 'first',
    attempts: row.attempts,
    cycleBase: row.cycle_base,
    claimed: true,
    orderingKey: row.ordering_key,
    sendBefore,
  }
}
