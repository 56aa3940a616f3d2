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

/** The platform events that start a workflow or that it waits for. */
export function findSubscriptions(definition: WorkflowDefinition): EventSubscription[] {
  const { trigger } = definition
  const started = trigger.type === 'event' ? [trigger] : []
  const awaited = visitSteps(definition).flatMap(({ step }) =>
    step.type === 'wait' && step.event ? [{ events: step.event.types, filter: step.event.filter }] : [],
  )
  return [...started, ...awaited]
}

/** Patterns of the platform events that start a workflow or that it waits for. */
export const eventPatterns = (definition: WorkflowDefinition): string[] => [
  ...new Set(findSubscriptions(definition).flatMap(({ events }) => events)),
]

/** Whether the definition refers to secrets anywhere, or its inbound webhook is signed with one. */
const usesSecrets = (definition: WorkflowDefinition): boolean =>
  referencedSecrets(JSON.stringify(definition)).length > 0 || findSecretTargets(definition).length > 0

/**
 * Permissions that each kind of step requires of the workflow's owner; the called operation, connector or artifact may
 * require further ones.
 */
const stepPermissions: Readonly<Record<Step['type'], readonly Permission[]>> = {
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

/** Additional permissions for invoking a connector, by its kind. */
const connectorPermissions: Readonly<Record<string, Permission>> = { topic: 'topics:write' }

/** Finds artifacts of an environment by slug, with the permissions required to run each. */
export type FindArtifacts = (
  tenant: TenantScope,
  names: readonly string[],
) => Promise<readonly { name: string; permissions: readonly Permission[] }[]>

export interface NeedsOptions {
  permissionOf: FindPermission
  findConnectors: FindConnectors
  findArtifacts: FindArtifacts
}

/** The permissions needed to publish a definition in addition to `workflows:write`; its owner must keep them. */
export type ComputeNeeds = (definition: WorkflowDefinition, tenant: TenantScope) => Promise<NeededRights>

export const createComputeNeeds =
  ({ permissionOf, findConnectors, findArtifacts }: NeedsOptions): ComputeNeeds =>
  async (definition, tenant) => {
    const steps = visitSteps(definition).map(({ step }) => step)
    const reads = new Set(eventPatterns(definition).map(eventPermission))
    const uses = new Set<Permission>([
      ...(definition.permissions ?? []),
      ...steps.flatMap(({ type }) => stepPermissions[type]),
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
      const permission = connectorPermissions[kind]
      if (permission) uses.add(permission)
    }
    const slugs = new Set(steps.flatMap((step) => (step.type === 'artifact' ? [step.artifact] : [])))
    const artifacts = slugs.size > 0 ? await findArtifacts(tenant, [...slugs]) : []
    for (const permission of artifacts.flatMap((artifact) => artifact.permissions)) uses.add(permission)
    const inOrder = (set: ReadonlySet<Permission>) => permissions.filter((each) => set.has(each))
    return { reads: inOrder(reads), uses: inOrder(uses) }
  }
