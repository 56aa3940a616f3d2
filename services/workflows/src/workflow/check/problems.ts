import {
  ApiError,
  type TenantScope,
  type WorkflowDefinition,
  type WorkflowProblem,
} from '@opsplane/contracts'
import type { SavingMeta, SecretTargets } from '@opsplane/http'
import type { Expressions } from '@opsplane/sandbox'
import { computeDigest } from '../versions.js'
import { checkEvents } from './events.js'
import { checkExpressions } from './expressions.js'
import { checkInputSchema } from './input.js'
import { checkPlatform, type Platform } from './platform.js'
import { checkSecrets } from './secrets.js'
import { checkStructure } from './structure.js'
import { checkSubWorkflows, type FindWorkflows } from './sub-workflows.js'

export interface Checks {
  /**
   * All problems that prevent the caller from publishing a definition, up to 100. `workflowId`: `null` for a new
   * workflow.
   */
  problemsOf(
    workflowId: string | null,
    definition: WorkflowDefinition,
    meta: SavingMeta,
  ): Promise<WorkflowProblem[]>
}

export interface ChecksOptions {
  expressions: Pick<Expressions, 'check'>
  findWorkflows(tenant: TenantScope): FindWorkflows
  platform: Platform & { secretTargets: Pick<SecretTargets, 'check'> }
}

const maxProblems = 100
const maxKept = 1_000
/** Transient errors that say nothing about the definition, so that the check is repeated. */
const passing = /^expression_(unavailable|overloaded|timeout)$/

export function createChecks({ expressions, findWorkflows, platform }: ChecksOptions): Checks {
  /** Problems that depend only on the definition, by its digest. */
  const kept = new Map<string, Promise<WorkflowProblem[]>>()

  const own = async (definition: WorkflowDefinition, tenant: TenantScope) => {
    const structure = [...checkStructure(definition), ...checkInputSchema(definition)]
    // A definition that exceeds the limits is not worth checking its templates in a child process.
    const isTooLarge = structure.some(({ code }) => code === 'too_many_steps' || code === 'too_large')
    return isTooLarge
      ? structure
      : [...structure, ...(await checkExpressions(expressions, definition, tenant))]
  }

  const remembered = (definition: WorkflowDefinition, tenant: TenantScope) => {
    const digest = computeDigest(definition)
    const known = kept.get(digest)
    if (known) return known
    const found = own(definition, tenant)
    kept.set(digest, found)
    const forget = () => void kept.delete(digest)
    found.then((problems) => problems.some(({ code }) => passing.test(code)) && forget(), forget)
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break
      kept.delete(oldest)
    }
    return found
  }

  return {
    async problemsOf(workflowId, definition, meta) {
      const { tenant } = meta
      const found = [
        ...(await remembered(definition, tenant)),
        ...checkEvents(definition),
        ...(await checkSubWorkflows(workflowId, definition, findWorkflows(tenant))),
        ...(await checkPlatform(definition, tenant, platform)),
        ...(await checkSecrets(definition, meta, platform)),
      ]
      return found.slice(0, maxProblems)
    },
  }
}

/** Throws `validation_failed` with a detail for each problem. */
export function refuseProblems(problems: readonly WorkflowProblem[]): void {
  const [first] = problems
  if (!first) return
  const message =
    problems.length === 1
      ? `The draft cannot be published: ${first.path} ${first.message}.`
      : `The draft cannot be published: it has ${problems.length} problems.`
  throw new ApiError('validation_failed', message, {
    details: problems.map(({ path, code, message: text, step }) => ({
      in: 'body',
      path: `/definition${path}`,
      code,
      message: text,
      params: { step },
    })),
  })
}
