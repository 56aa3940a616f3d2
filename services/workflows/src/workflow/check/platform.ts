import type {
  ApiStep,
  ConnectorStep,
  TenantScope,
  WorkflowDefinition,
  WorkflowProblem,
} from '@opsplane/contracts'
import type { Operations, Outbound } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { FindConnectors } from '../connector-names.js'
import { checkAddresses } from './addresses.js'
import { problem } from './structure.js'
import { checkTargets, type FindKnown } from './targets.js'
import { type Path, visitSteps } from './walk.js'

export interface Platform {
  operations: Operations
  findConnectors: FindConnectors
  findKnown: FindKnown
  outbound: Pick<Outbound, 'checkUrl'>
  log: Pick<Logger, 'warn'>
}

/**
 * Finds operations, connectors, actions and other names that do not exist, missing path parameters, and addresses that
 * are never called. If a service is unavailable, the definition is assumed to be valid in this respect, and a warning
 * is logged.
 */
export async function checkPlatform(
  definition: WorkflowDefinition,
  tenant: TenantScope,
  platform: Platform,
): Promise<WorkflowProblem[]> {
  const all = visitSteps(definition)
  const calls = all.flatMap(({ step, path }) => (step.type === 'api' ? [{ step, path }] : []))
  const connected = all.flatMap(({ step, path }) => (step.type === 'connector' ? [{ step, path }] : []))
  return [
    ...(await checkOperations(calls, platform)),
    ...(await checkConnectors(connected, tenant, platform)),
    ...(await checkTargets(definition, tenant, platform)),
    ...checkAddresses(definition, platform.outbound),
  ]
}

async function checkOperations(
  calls: readonly { step: ApiStep; path: Path }[],
  { operations, log }: Platform,
): Promise<WorkflowProblem[]> {
  const found: WorkflowProblem[] = []
  for (const { step, path } of calls) {
    const operation = await operations.find(step.operation)
    if (operation) found.push(...missingParams(step, path, operation.path))
    else if (operations.isComplete())
      found.push(
        problem(
          step.id,
          [...path, 'operation'],
          'unknown_operation',
          `names no operation: ${step.operation}`,
        ),
      )
    else
      log.warn({ operation: step.operation }, 'an operation was not checked, as its service does not answer')
  }
  return found
}

const missingParams = (step: ApiStep, path: Path, pattern: string): WorkflowProblem[] =>
  [...pattern.matchAll(/:([A-Za-z0-9_]+)/g)].flatMap(([, name = '']) =>
    name in (step.params ?? {})
      ? []
      : [problem(step.id, [...path, 'params'], 'missing_param', `lacks ${name}, which ${pattern} takes`)],
  )

async function checkConnectors(
  connected: readonly { step: ConnectorStep; path: Path }[],
  tenant: TenantScope,
  { findConnectors, log }: Platform,
): Promise<WorkflowProblem[]> {
  if (connected.length === 0) return []
  const ids = [...new Set(connected.map(({ step }) => step.connector))]
  try {
    const known = new Map(
      (await findConnectors(tenant, { ids, furtherActions: true })).map((each) => [each.id, each]),
    )
    return connected.flatMap(({ step, path }) => {
      const { id, connector, action } = step
      const found = known.get(connector)
      if (!found)
        return [
          problem(id, [...path, 'connector'], 'unknown_connector', 'names no connector of this environment'),
        ]
      const { name, actions } = found
      if (!actions || actions.includes(action)) return []
      const message = `names no action of ${name}, which has ${listed(actions)}: ${action}`
      return [problem(id, [...path, 'action'], 'unknown_action', message)]
    })
  } catch (error) {
    log.warn({ err: error }, 'connectors were not checked: integrations does not answer')
    return []
  }
}

const maxListed = 20

/** Limits the list, because an API may have hundreds of actions. */
const listed = (actions: readonly string[]): string =>
  actions.length <= maxListed
    ? actions.join(', ')
    : `${actions.slice(0, maxListed).join(', ')} and ${actions.length - maxListed} more`
