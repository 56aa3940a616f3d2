import {
  invalidField,
  type JsonValue,
  type NewWorkflow,
  newId,
  notFound,
  type TenantScope,
  tenantKey,
  type Workflow,
  type WorkflowDefinition,
  type WorkflowPatch,
  type WorkflowWithDraft,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import {
  type Delegations,
  jsonPointer,
  type RequestMeta,
  type SavingMeta,
  type SecretTargets,
  type ServiceClient,
} from '@opsplane/http'
import type { ServiceContext, SubscriptionRules } from '@opsplane/service'
import type { TransferRuns } from '../run/actions.js'
import type { ComputeNeeds } from './check/needs.js'
import { type Checks, refuseProblems } from './check/problems.js'
import { findSecretTargets } from './check/secrets.js'
import { visitSteps } from './check/walk.js'
import {
  type PinnedVersion,
  type WorkflowCommand,
  type WorkflowRecord,
  type WrittenDefinition,
  workflow,
} from './domain.js'
import { createGivers, type Givers } from './givers.js'
import { createGrantRevocations, type GrantRevocations } from './grants.js'
import { allowedActions, statusAfter } from './transitions.js'
import {
  computeDigest,
  createVersions,
  draftRow,
  type StoredVersion,
  testRef,
  type Versions,
  versionRef,
  versionRow,
} from './versions.js'
import { createWorkflowStateReader } from './workflow-state-reader.js'

export type WorkflowAggregate = Aggregate<WorkflowRecord, WorkflowCommand, Workflow>

export interface Workflows {
  aggregate: WorkflowAggregate
  versions: Versions
  givers: Givers
  grants: GrantRevocations
  /** Throws `conflict` (`not_unique`) if a workflow with this name was already `promoted` to the environment. */
  create(fields: NewWorkflow & { promoted?: boolean }, meta: RequestMeta): Promise<WorkflowWithDraft>
  /** Returns the workflow with the problems that prevent the caller from publishing the draft. */
  get(id: string, meta: SavingMeta): Promise<WorkflowWithDraft>
  update(id: string, patch: WorkflowPatch, meta: RequestMeta): Promise<WorkflowWithDraft>
  /**
   * Runs of the version act with the caller's rights, as after `activate` and `rollback`. Throws `forbidden` naming
   * missing permissions.
   */
  publish(id: string, options: { note: string; activate: boolean }, meta: RequestMeta): Promise<Workflow>
  activate(id: string, meta: RequestMeta): Promise<Workflow>
  rollback(id: string, to: number, meta: RequestMeta): Promise<Workflow>
  transferRuns: TransferRuns
  /** Its grants end with its last run. */
  archive(id: string, meta: RequestMeta): Promise<void>
  rotateHook(id: string, hookId: string, meta: RequestMeta): Promise<{ path: string }>
  /** Returns a published version. Throws `not_found` if there is none with this number. */
  version(id: string, number: number, tenant: TenantScope): Promise<StoredVersion>
  record(id: string, tenant: TenantScope): Promise<WorkflowRecord>
  /**
   * The version that new runs are pinned to. Throws `not_found` if the workflow does not exist,
   * `invalid_state_transition` if it is archived, not published, or suspended (`owner_rights`).
   */
  published(id: string, tenant: TenantScope): Promise<Runnable>
  /**
   * Stores the current draft for one test. Throws `validation_failed` with its problems and for pins of unknown steps,
   * and `forbidden` if the caller lacks rights that the draft needs.
   */
  pinDraft(
    id: string,
    testId: string,
    pins: Record<string, JsonValue>,
    meta: RequestMeta,
  ): Promise<Runnable & { definition: WorkflowDefinition }>
}

/** The data needed to start a run of a workflow. */
export interface Runnable {
  id: string
  name: string
  version: number
  programRef: string
}

export interface WorkflowParts {
  delegations: Delegations
  settings: Pick<ServiceClient, 'post'>
  rules: SubscriptionRules
  checks: Checks
  needsOf: ComputeNeeds
  secretTargets: Pick<SecretTargets, 'admit'>
  /** Current end of each service's log, by service. */
  logEnds(): Promise<Record<string, number>>
}

export function createWorkflows(
  { store, database, cursors, log }: ServiceContext,
  { delegations, settings, rules, checks, needsOf, secretTargets, logEnds }: WorkflowParts,
): Workflows {
  const aggregate = store.aggregate(workflow, { present: shown })
  const versions = createVersions(database, cursors)
  const givers = createGivers({ database, delegations, settings, rules, needsOf })
  const grants = createGrantRevocations(database, delegations, log)
  const readWorkflowState = createWorkflowStateReader(database)

  const record: Workflows['record'] = async (id, tenant) => {
    const found = await aggregate.find(id, tenant)
    if (!found) throw notFound()
    return found.state
  }

  const withDraft = async (found: Workflow, draft: WorkflowDefinition, meta: SavingMeta) => ({
    ...found,
    draft,
    problems: await checks.problemsOf(found.id, draft, meta),
  })

  /** Revokes grants that were replaced by a later one. */
  const settled = async (id: string, done: Workflow) => {
    await grants.trySettle(id)
    return done
  }

  return {
    aggregate,
    versions,
    givers,
    grants,
    record,

    create: async ({ definition, promoted = false, ...fields }, meta) => {
      const id = newId('workflow')
      const draft = written(id, definition, meta.now)
      await secretTargets.admit(meta, findSecretTargets(definition))
      const place = tenantKey(meta.tenant)
      const command = {
        kind: 'create',
        id,
        ...fields,
        place,
        promoted,
        hookId: newId('hook'),
        draft,
        now: meta.now,
      } as const
      return store.transact(meta, async (unit) =>
        withDraft(await unit.create(aggregate, id, command), definition, meta),
      )
    },

    get: async (id, meta) => {
      const found = await aggregate.get(id, meta.tenant)
      return withDraft(found, await versions.draft(id, meta.tenant), meta)
    },

    update: async (id, { definition, ...patch }, meta) => {
      const draft = definition && written(id, definition, meta.now)
      const command = { kind: 'update', patch, now: meta.now, ...(draft && { draft }) } as const
      if (definition) await secretTargets.admit(meta, findSecretTargets(definition))
      return store.transact(
        meta,
        async (unit) => {
          const changed = await unit.handle(aggregate, id, command)
          return withDraft(changed, definition ?? (await versions.draft(id, meta.tenant)), meta)
        },
        { queueKey: id },
      )
    },

    publish: async (id, { note, activate }, meta) => {
      const { tenant, now, principal } = meta
      const state = await record(id, tenant)
      const definition = await versions.draft(id, tenant)
      refuseProblems(await checks.problemsOf(id, definition, meta))
      const number = state.latestVersion + 1
      const ref = versionRef(id, number)
      const grant = await givers.give({ versionId: ref }, definition, meta)
      const { name } = state
      const version = {
        ...buildVersion(id, { number, name, note, definition, now, tenant }),
        ...{ pins: {}, publishedBy: principal.userId },
      }
      const { draftRevision } = state
      const written = {
        ...pinned(version, principal.userId),
        row: versionRow(ref, version, grant),
      }
      await secretTargets.admit(meta, findSecretTargets(definition))
      const fence = activate ? await logEnds() : null
      const command = { kind: 'publish', draftRevision, version: written, activate: fence, now } as const
      return settled(id, await aggregate.handle(id, command, meta))
    },

    activate: async (id, meta) => {
      const state = await record(id, meta.tenant)
      statusAfter('activate', state)
      const number = state.publishedVersion ?? 0
      const { definition } = await loadVersion(versions, id, number, meta.tenant)
      const carrier = { versionId: versionRef(id, number) }
      const grant = await givers.takeOverUnlessOwn(carrier, definition, meta)
      const ownerId = meta.principal.userId
      const command = {
        kind: 'activate',
        number,
        ownerId,
        grant,
        fence: await logEnds(),
        now: meta.now,
      } as const
      return settled(id, await aggregate.handle(id, command, meta))
    },

    rollback: async (id, to, meta) => {
      const state = await record(id, meta.tenant)
      const version = await loadVersion(versions, id, to, meta.tenant)
      statusAfter('rollback', state)
      const carrier = { versionId: versionRef(id, to) }
      // The grant of a version other than the published one may be revoked at any moment.
      const obtainGrant = state.publishedVersion === to ? givers.takeOverUnlessOwn : givers.takeOver
      const grant = await obtainGrant(carrier, version.definition, meta)
      const { userId } = meta.principal
      const command = { kind: 'rollback', version: pinned(version, userId), grant, now: meta.now } as const
      return settled(id, await aggregate.handle(id, command, meta))
    },

    transferRuns: async (runs, caller) => {
      const carried = runs.map(async ({ id: runId, programRef: versionId }) => {
        const { definition } = await versions.load(versionId, caller.tenant)
        return { carrier: { versionId, runId }, definition }
      })
      await givers.transferRuns(await Promise.all(carried), caller)
    },

    archive: async (id, meta) => {
      await aggregate.handle(id, { kind: 'archive', now: meta.now }, meta)
      await grants.trySettle(id)
    },

    rotateHook: (id, hookId, meta) =>
      store.transact(
        meta,
        async (unit) => {
          await unit.handle(aggregate, id, { kind: 'rotate_hook', hookId, now: meta.now })
          return toHook({ hookId })
        },
        { queueKey: id },
      ),

    published: async (id, tenant) => {
      const workflow = await readWorkflowState(id, tenant)
      if (!workflow) throw notFound()
      statusAfter('trigger', workflow)
      const ref = versionRef(id, workflow.publishedVersion ?? 0)
      return { id, name: workflow.name, version: workflow.publishedVersion ?? 0, programRef: ref }
    },

    pinDraft: async (id, testId, pins, meta) => {
      const { tenant, principal, now } = meta
      const { name, ...state } = await record(id, tenant)
      statusAfter('update', state)
      const definition = await versions.draft(id, tenant)
      refuseProblems(await checks.problemsOf(id, definition, meta))
      refuseUnknownPins(definition, pins)
      const ref = testRef(id, testId)
      const expiresInSeconds = Math.min(definition.timeoutSeconds, longestGrantSeconds)
      const grant = await givers.give({ versionId: ref }, definition, meta, expiresInSeconds)
      await secretTargets.admit(meta, findSecretTargets(definition))
      const version = { ...buildVersion(id, { number: 0, name, note: '', definition, now, tenant }), pins }
      await versions.keep(ref, { ...version, publishedBy: principal.userId }, grant, tenant)
      return { id, name, version: 0, programRef: ref, definition }
    },

    version: (id, number, tenant) => loadVersion(versions, id, number, tenant),
  }
}

const longestGrantSeconds = 90 * 86_400

function buildVersion(
  workflowId: string,
  {
    definition,
    now,
    tenant,
    ...rest
  }: Pick<StoredVersion, 'number' | 'name' | 'note' | 'definition'> & { now: string; tenant: TenantScope },
) {
  return {
    ...rest,
    ...{ workflowId, definition, digest: computeDigest(definition), publishedAt: now },
    stepCount: visitSteps(definition).length,
    awaitedKeys: awaitedTypes(definition).map((type) => `${tenantKey(tenant)}/${type}`),
  }
}

/** Types and patterns of events for which its steps wait, at any depth. */
const awaitedTypes = (definition: WorkflowDefinition): string[] => [
  ...new Set(
    visitSteps(definition).flatMap(({ step }) => (step.type === 'wait' ? (step.event?.types ?? []) : [])),
  ),
]

function refuseUnknownPins(definition: WorkflowDefinition, pins: Record<string, JsonValue>): void {
  const known = new Set(visitSteps(definition).map(({ step }) => step.id))
  const unknown = Object.keys(pins).find((id) => !known.has(id))
  if (unknown !== undefined)
    throw invalidField(jsonPointer(['pins', unknown]), 'unknown_step', `There is no step ${unknown}.`)
}

const loadVersion = async (versions: Versions, id: string, number: number, tenant: TenantScope) =>
  versions.load(versionRef(id, number), tenant)

const written = (id: string, definition: WorkflowDefinition, now: string): WrittenDefinition => ({
  digest: computeDigest(definition),
  row: draftRow(id, definition, now),
})

const pinned = ({ number, digest, definition }: StoredVersion, ownerId: string): PinnedVersion => ({
  number,
  digest,
  trigger: definition.trigger,
  ownerId,
})

function shown(state: WorkflowRecord, version: number): Workflow {
  return { ...workflow.expose(state), version, allowedActions: allowedActions(state) }
}

export const toHook = ({ hookId }: Pick<WorkflowRecord, 'hookId'>) => ({ path: `/hooks/${hookId}` })
