import {
  eventPermission,
  type NeededRights,
  type Permission,
  permissions,
  referencedSecrets,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import { visits } from './walk.js'

/** Patterns of the platform's events that a workflow is started by, or waits for. */
export function eventPatterns(definition: WorkflowDefinition): string[] {
  const started = definition.trigger.type === 'event' ? definition.trigger.events : []
  const awaited = visits(definition).flatMap(({ step }) =>
    step.type === 'wait' && step.event ? step.event.types : [],
  )
  return [...new Set([...started, ...awaited])]
}

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
