import type { TenantScope, WorkflowDefinition, WorkflowProblem } from '@opsplane/contracts'
import type { Operations } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import { problem } from './structure.js'
import { isTemplate } from './templates.js'
import { type Path, type Visit, visitSteps } from './walk.js'

/**
 * Kinds of names that are resolved in the definition's environment. Secrets are checked by `checkSecrets`, which knows
 * their hosts.
 */
export const targetSorts = ['artifact', 'table', 'query', 'user', 'role'] as const
export type TargetSort = (typeof targetSorts)[number]

/** Returns those names that exist. Throws if the service that owns them is unavailable. */
export type FindKnown = (
  sort: TargetSort,
  tenant: TenantScope,
  names: readonly string[],
) => Promise<readonly string[]>

interface Target {
  sort: TargetSort
  name: string
  step: string | null
  path: Path
}

export interface Targets {
  findKnown: FindKnown
  operations: Pick<Operations, 'find'>
  log: Pick<Logger, 'warn'>
}

/**
 * Finds names of artifacts, tables, queries and approvers that do not exist. Values of expressions are known only in a
 * run.
 */
export async function checkTargets(
  definition: WorkflowDefinition,
  tenant: TenantScope,
  { findKnown, operations, log }: Targets,
): Promise<WorkflowProblem[]> {
  const targets = [
    ...visitSteps(definition).flatMap(listTargets),
    ...(await targetsOfCalls(visitSteps(definition), operations)),
  ]
  const problems: WorkflowProblem[] = []
  for (const sort of targetSorts) {
    const matchingTargets = targets.filter((target) => target.sort === sort)
    const names = [...new Set(matchingTargets.map(({ name }) => name))]
    const known =
      names.length === 0
        ? names
        : await findKnown(sort, tenant, names).catch((error: unknown) => {
            log.warn(
              { err: error, sort },
              'what a definition names was not checked: its service does not answer',
            )
            return names
          })
    for (const { name, step, path } of matchingTargets)
      if (!known.includes(name))
        problems.push(problem(step, path, `unknown_${sort}`, `names no ${sort} of this environment: ${name}`))
  }
  return problems
}

function listTargets({ step, path }: Visit): Target[] {
  const at = (sort: TargetSort, names: readonly string[], ...below: string[]) =>
    names.flatMap((name, index) =>
      isTemplate(name)
        ? []
        : [{ sort, name, step: step.id, path: [...path, ...below, ...(below.length > 1 ? [index] : [])] }],
    )
  if (step.type === 'artifact') return at('artifact', [step.artifact], 'artifact')
  if (step.type !== 'approval') return []
  const { users, roles } = step.approvers
  return [...at('user', users, 'approvers', 'users'), ...at('role', roles, 'approvers', 'roles')]
}

/** The kind of a path parameter, by the path before it. */
const byPath: readonly [RegExp, TargetSort][] = [
  [/^\/tables\/:(\w+)/, 'table'],
  [/^\/queries\/:(\w+)/, 'query'],
  [/^\/sdk\/artifacts\/:(\w+)/, 'artifact'],
]

async function targetsOfCalls(all: readonly Visit[], operations: Targets['operations']): Promise<Target[]> {
  const found: Target[] = []
  for (const { step, path } of all) {
    const pattern = step.type === 'api' ? ((await operations.find(step.operation))?.path ?? '') : ''
    for (const [start, sort] of byPath) {
      const [, param = ''] = start.exec(pattern) ?? []
      const name = step.type === 'api' ? step.params[param] : undefined
      if (typeof name === 'string' && !isTemplate(name))
        found.push({ sort, name, step: step.id, path: [...path, 'params', param] })
    }
  }
  return found
}
