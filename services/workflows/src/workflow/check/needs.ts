import {
  type EventSubscription,
  eventPermission,
  type NeededRights,
  type Permission,
  permissions,
  referencedSecrets,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import { secretTargetsOf } from './secrets.js'
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

/** Whether it refers to secrets anywhere, or its inbound webhook is signed with one. */
const usesSecrets = (definition: WorkflowDefinition): boolean =>
  referencedSecrets(JSON.stringify(definition)).length > 0 || secretTargetsOf(definition).length > 0

/** What publishing a definition takes beside `workflows:write`, and its owner must go on to hold. */
export function needsOf(definition: WorkflowDefinition): NeededRights {
  const reads = new Set(eventPatterns(definition).map(eventPermission))
  const uses: Permission[] = usesSecrets(definition) ? ['secrets:use'] : []
  return { reads: permissions.filter((each) => reads.has(each)), uses }
}
