import type {
  ApiStep,
  ConnectorStep,
  TenantScope,
  WorkflowDefinition,
  WorkflowProblem,
} from '@opsplane/contracts'
import type { Operations } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { FindConnectors } from '../connector-names.js'
import { problem } from './structure.js'
import { type Path, visits } from './walk.js'

export interface Platform {
  operations: Operations
  findConnectors: FindConnectors
  log: Pick<Logger, 'warn'>
}

/**
 * Operations and connectors that are not there, and parameters of paths that are not given. Where a service cannot be
 * asked nothing is held against a definition: the log says so.
 */
export async function checkPlatform(
  definition: WorkflowDefinition,
  tenant: TenantScope,
  platform: Platform,
): Promise<WorkflowProblem[]> {
  const all = visits(definition)
  const calls = all.flatMap(({ step, path }) => (step.type === 'api' ? [{ step, path }] : []))
  const connected = all.flatMap(({ step, path }) => (step.type === 'connector' ? [{ step, path }] : []))
  return [
    ...(await checkOperations(calls, platform)),
    ...(await checkConnectors(connected, tenant, platform)),
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
    const known = new Set((await findConnectors(tenant, { ids })).map(({ id }) => id))
    return connected
      .filter(({ step }) => !known.has(step.connector))
      .map(({ step, path }) =>
        problem(
          step.id,
          [...path, 'connector'],
          'unknown_connector',
          'names no connector of this environment',
        ),
      )
  } catch (error) {
    log.warn({ err: error }, 'connectors were not checked: integrations does not answer')
    return []
  }
}
