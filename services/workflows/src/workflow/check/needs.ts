import {
  type EventSubscription,
  eventPermission,
  type NeededRights,
  type Permission,
  permissions,
  referencedSecrets,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import { visits } from './walk.js'

/** The platform's events that a workflow is started by, or waits for. */
export function subscriptionsOf(definition: WorkflowDefinition): EventSubscription[] {
  const { trigger } = definition
  const started = trigger.type === 'event' ? [trigger] : []
  const awaited = visits(definition).flatMap(({ step }) =>
    step.type === 'wait' && step.event ? [{ events: step.event.types, filter: step.event.filter }] : [],
  )
  return [...started, ...awaited]
}

/** Patterns of the platform's events that a workflow is started by, or waits for. */
export const eventPatterns = (definition: WorkflowDefinition): string[] => [
  ...new Set(subscriptionsOf(definition).flatMap(({ events }) => events)),
]

/** Names of the secrets that a definition refers to, and of the one its inbound webhook is signed with. */
export function secretNames(definition: WorkflowDefinition): string[] {
  const { trigger } = definition
  const signed = trigger.type === 'webhook' && trigger.signature ? [trigger.signature.secret] : []
  return [...new Set([...referencedSecrets(JSON.stringify(definition)), ...signed])]
}

/** What publishing a definition takes beside `workflows:write`, and its owner must go on to hold. */
export function needsOf(definition: WorkflowDefinition): NeededRights {
  const reads = new Set(eventPatterns(definition).map(eventPermission))
  const uses: Permission[] = secretNames(definition).length > 0 ? ['secrets:use'] : []
  return { reads: permissions.filter((each) => reads.has(each)), uses }
}
