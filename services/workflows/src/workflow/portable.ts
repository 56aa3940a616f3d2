import {
  ApiError,
  type Environment,
  parseExact,
  type Step,
  stringifyExact,
  type TenantScope,
  type WorkflowDefinition,
  type WorkflowExport,
  type WorkflowProblem,
  type WorkflowWithDraft,
} from '@opsplane/contracts'
import type { RequestMeta, RequireEnvironment } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { problem } from './check/structure.js'
import { type Path, visitSteps } from './check/walk.js'
import type { FindConnectors } from './connector-names.js'
import { findWorkflowNames } from './queries.js'
import { statusAfter } from './transitions.js'
import type { Workflows } from './workflows.js'

export interface Portable {
  /** Exports the draft or a version, with the names of the connectors and workflows it refers to. */
  export(id: string, version: number | undefined, tenant: TenantScope): Promise<WorkflowExport>
  /**
   * Makes the published version the draft of the workflow with this name in the other environment, creating it if
   * necessary.
   */
  promote(id: string, to: Environment, meta: RequestMeta): Promise<WorkflowWithDraft>
}

export interface PortableParts {
  workflows: Workflows
  database: Database
  requireEnvironment: RequireEnvironment
  findConnectors: FindConnectors
}

type Kind = 'connector' | 'workflow'
interface Reference {
  kind: Kind
  id: string
  step: string
  path: Path
}

export function createPortable({
  workflows,
  database,
  requireEnvironment,
  findConnectors,
}: PortableParts): Portable {
  const find = (kind: Kind, tenant: TenantScope, query: { ids?: string[]; names?: string[] }) => {
    const empty = !query.ids?.length && !query.names?.length
    if (empty) return Promise.resolve([])
    return kind === 'connector' ? findConnectors(tenant, query) : findWorkflowNames(database, tenant, query)
  }
  const namesIn = async (kind: Kind, definition: WorkflowDefinition, tenant: TenantScope) => {
    const ids = listReferences(definition).flatMap((each) => (each.kind === kind ? [each.id] : []))
    const found = await find(kind, tenant, { ids: [...new Set(ids)] })
    return Object.fromEntries(found.map(({ id, name }) => [id, name]))
  }
  const exported = async (id: string, version: number | undefined, tenant: TenantScope) => {
    const { name, description } = await workflows.record(id, tenant)
    const { definition } =
      version === undefined
        ? { definition: await workflows.versions.draft(id, tenant) }
        : await workflows.version(id, version, tenant)
    const connectors = await namesIn('connector', definition, tenant)
    const called = await namesIn('workflow', definition, tenant)
    const format = 'opsplane.workflow/1' as const
    return { format, name, description, definition, connectors, workflows: called }
  }

  return {
    export: exported,
    async promote(id, environment, meta) {
      if (environment === meta.tenant.environment)
        throw new ApiError('conflict', 'A workflow can only be promoted to another environment.')
      await requireEnvironment(meta, environment, '/environment')
      const state = await workflows.record(id, meta.tenant)
      statusAfter('rollback', state)
      const source = await exported(id, state.publishedVersion ?? undefined, meta.tenant)
      const there = { ...meta.tenant, environment }
      const connectors = await find('connector', there, { names: Object.values(source.connectors) })
      const called = await find('workflow', there, { names: Object.values(source.workflows) })
      const { definition, missing } = localized(source, { connector: connectors, workflow: called }, there)
      const { name, description } = source
      const here = inTenant(meta, there)
      const createOrUpdate = async () => {
        const [present, ...others] = await findWorkflowNames(database, there, { names: [name] })
        if (others.length > 0)
          throw new ApiError('conflict', `There are several workflows named ${name} in ${environment}.`)
        return present
          ? workflows.update(present.id, { description, definition }, here)
          : workflows.create({ name, description, definition, promoted: true }, here)
      }
      // A concurrent promotion may have created it.
      const savedWorkflow = await createOrUpdate().catch((error: unknown) => {
        if (isNotUnique(error)) return createOrUpdate()
        throw error
      })
      const missingPaths = new Set(missing.map(({ path }) => path))
      return {
        ...savedWorkflow,
        problems: [...missing, ...savedWorkflow.problems.filter(({ path }) => !missingPaths.has(path))],
      }
    },
  }
}

const isNotUnique = (error: unknown) =>
  error instanceof ApiError && error.details.some(({ code }) => code === 'not_unique')

/** Drops the idempotency key: the key is stored with the response of the whole request. */
function inTenant(meta: RequestMeta, tenant: TenantScope): RequestMeta {
  const { idempotency: _, ...rest } = meta
  return { ...rest, tenant, signal: meta.signal, log: meta.log }
}

const referenceIn = (step: Step): { kind: Kind; id: string } | undefined => {
  if (step.type === 'connector') return { kind: 'connector', id: step.connector }
  return step.type === 'workflow' ? { kind: 'workflow', id: step.workflow } : undefined
}

/** The connectors and workflows to which steps refer by id. */
function listReferences(definition: WorkflowDefinition): Reference[] {
  return visitSteps(definition).flatMap(({ step, path }) => {
    const found = referenceIn(step)
    return found ? [{ ...found, step: step.id, path: [...path, found.kind] }] : []
  })
}

/**
 * Replaces ids by those that the names have in the other environment; a reference without a match keeps its id and is
 * reported as a problem.
 */
function localized(
  source: WorkflowExport,
  found: Record<Kind, { id: string; name: string }[]>,
  { environment }: TenantScope,
): { definition: WorkflowDefinition; missing: WorkflowProblem[] } {
  // Copied through its text, because a structured clone turns exact numbers into plain objects.
  const definition = parseExact(stringifyExact(source.definition)) as WorkflowDefinition
  const missing = listReferences(definition).flatMap(({ kind, id, step, path }) => {
    const name = (kind === 'connector' ? source.connectors : source.workflows)[id]
    if (found[kind].some((each) => each.name === name)) return []
    return [
      problem(
        step,
        path,
        `unknown_${kind}`,
        `names the ${kind} ${name ?? id}, which is not in ${environment}`,
      ),
    ]
  })
  for (const { step } of visitSteps(definition)) {
    const { kind, id } = referenceIn(step) ?? {}
    const name = id && (kind === 'connector' ? source.connectors : source.workflows)[id]
    const local = kind && name && found[kind].find((each) => each.name === name)?.id
    if (local && step.type === 'connector') step.connector = local
    if (local && step.type === 'workflow') step.workflow = local
  }
  return { definition, missing }
}
