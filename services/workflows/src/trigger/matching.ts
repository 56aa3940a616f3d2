import {
  filterMatches,
  type PlatformEvent,
  type TenantScope,
  type TopicEvent,
  tenantKey,
} from '@opsplane/contracts'
import type { EventOrigin } from '@opsplane/eventstore'
import { toEventBody } from '../run/event-wait/accepted-event.js'
import type { WorkflowRecord } from '../workflow/domain.js'

export const buildTopicKey = (tenant: TenantScope, topic: string) => `${tenantKey(tenant)}/bus:${topic}`

/**
 * Whether a platform event that matches one of its keys starts the workflow; events accepted before its activation do
 * not.
 */
export function isStartedByEvent(
  { trigger, fence, id }: Pick<WorkflowRecord, 'trigger' | 'fence' | 'id'>,
  event: PlatformEvent,
  { source, position }: Pick<EventOrigin, 'source' | 'position'>,
): boolean {
  if (trigger?.type !== 'event') return false
  if (source !== null && position !== null && position <= (fence[source] ?? 0)) return false
  // A workflow started by its own changes would never stop.
  if (event.resource.type === 'workflow' && event.resource.id === id) return false
  return trigger.filter === undefined || filterMatches(trigger.filter, toEventBody(event))
}

/** Whether a topic event starts a workflow with a trigger on that topic. */
export function isStartedByTopic({ trigger }: Pick<WorkflowRecord, 'trigger'>, event: TopicEvent): boolean {
  if (trigger?.type !== 'event_bus' || trigger.topic !== event.topic) return false
  if (trigger.eventType !== undefined && trigger.eventType !== event.type) return false
  return trigger.filter === undefined || filterMatches(trigger.filter, event)
}
