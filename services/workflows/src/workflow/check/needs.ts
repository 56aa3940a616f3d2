import {
  eventPermission,
  type NeededRights,
  type Permission,
  permissions,
  referencedSecrets,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import { secretTargetsOf } from './secrets.js'
import { visits } from './walk.js'

/** Patterns of the platform's events that a workflow is started by, or waits for. */
export function eventPatterns(definition: WorkflowDefinition): string[] {
  const started = definition.trigger.type === 'event' ? definition.trigger.events : []
  const awaited = visits(definition).flatMap(({ step }) =>
    step.type === 'wait' && step.event ? step.event.types : [],
  )
  return [...new Set([...started, ...awaited])]
}

/** Whether it refers to secrets anywhere, or its inbound webhook is signed with one. */
const usesSecrets = (definition: WorkflowDefinition): boolean =>
  referencedSecrets(JSON.stringify(definition)).length > 0 || secretTargetsOf(definition).length > 0

/** What publishing a definition takes beside `workflows:write`, and its owner must go on to hold. */
export function needsOf(definition: WorkflowDefinition): NeededRights {
  const reads = new Set(eventPatterns(definition).map(eventPermission))
  const uses: Permission[] = usesSecrets(definition) ? ['secrets:use'] : []
  return { reads: permissions.filter((each) => reads.has(each)), uses }
}
