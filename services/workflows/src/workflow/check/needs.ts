import {
  type EventSubscription,
  eventPermission,
  type NeededRights,
  type Permission,
  permissions,
  referencedSecrets,
  type Step,
  type TenantScope,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import type { FindPermission } from '@opsplane/http'
import type { FindConnectors } from '../connector-names.js'
import { findSecretTargets } from './secrets.js'
import { visitSteps } from './walk.js'

/** The platform's events that a workflow is started by, or waits for. */
export function findSubscriptions(definition: WorkflowDefinition): EventSubscription[] {
  const { trigger } = definition
  const started = trigger.type === 'event' ? [trigger] : []
  const awaited = visitSteps(definition).flatMap(({ step }) =>
    step.type === 'wait' && step.event ? [{ events: step.event.types, filter: step.event.filter }] : [],
  )
  return [...started, ...awaited]
}

/** Patterns of the platform's events that a workflow is started by, or waits for. */
export const eventPatterns = (definition: WorkflowDefinition): string[] => [
  ...new Set(findSubscriptions(definition).flatMap(({ events }) => events)),
]

/** Whether it refers to secrets anywhere, or its inbound webhook is signed with one. */
const usesSecrets = (definition: WorkflowDefinition): boolean =>
  referencedSecrets(JSON.stringify(definition)).length > 0 || findSecretTargets(definition).length > 0

/** What a step of each kind takes of the rights of its workflow's owner; what it calls or runs may take more. */
const takenBy: Readonly<Record<Step['type'], readonly Permission[]>> = {
  http: [],
  api: [],
  connector: ['connectors:invoke'],
  artifact: ['sdk:invoke'],
  publish: ['topics:write'],
  workflow: ['workflows:run'],
  transform: [],
  wait: [],
  approval: [],
  branch: [],
  switch: [],
  parallel: [],
  for_each: [],
  stop: [],
  fail: [],
}

/** The permissions that invoking a connector needs in addition, by its kind. */
const takenByKind: Readonly<Record<string, Permission>> = { topic: 'topics:write' }

/** Artifacts of an environment that have one of these slugs, and the permissions that running one needs. */
export type FindArtifacts = (
  tenant: TenantScope,
  names: readonly string[],
) => Promise<readonly { name: string; permissions: readonly Permission[] }[]>

export interface NeedsOptions {
  permissionOf: FindPermission
  findConnectors: FindConnectors
  findArtifacts: FindArtifacts
}

/** The permissions that publishing a definition needs in addition to `workflows:write`, and its owner must keep. */
export type ComputeNeeds = (definition: WorkflowDefinition, tenant: TenantScope) => Promise<NeededRights>

export const createComputeNeeds =
  ({ permissionOf, findConnectors, findArtifacts }: NeedsOptions): ComputeNeeds =>
  async (definition, tenant) => {
    const steps = visitSteps(definition).map(({ step }) => step)
    const reads = new Set(eventPatterns(definition).map(eventPermission))
    const uses = new Set<Permission>([
      ...(definition.permissions ?? []),
      ...steps.flatMap(({ type }) => takenBy[type]),
      ...(usesSecrets(definition) ? (['secrets:use'] as const) : []),
    ])
    const operations = steps.flatMap((step) => (step.type === 'api' ? [step.operation] : []))
    for (const operation of new Set(operations)) {
      const permission = await permissionOf(operation)
      if (permission) uses.add(permission)
    }
    const ids = new Set(steps.flatMap((step) => (step.type === 'connector' ? [step.connector] : [])))
    const connectors = ids.size > 0 ? await findConnectors(tenant, { ids: [...ids] }) : []
    for (const { kind = '' } of connectors) {
      const permission = takenByKind[kind]
      if (permission) uses.add(permission)
    }
    const slugs = new Set(steps.flatMap((step) => (step.type === 'artifact' ? [step.artifact] : [])))
    const artifacts = slugs.size > 0 ? await findArtifacts(tenant, [...slugs]) : []
    for (const permission of artifacts.flatMap((artifact) => artifact.permissions)) uses.add(permission)
    const inOrder = (set: ReadonlySet<Permission>) => permissions.filter((each) => set.has(each))
    return { reads: inOrder(reads), uses: inOrder(uses) }
  }
