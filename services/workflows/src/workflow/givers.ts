import {
  ApiError,
  missingRights,
  newId,
  type ReadModelRow,
  Rights,
  stringifyExact,
  type TenantScope,
  type WorkflowDefinition,
} from '@opsplane/contracts'
import type { Delegations, RequestMeta, ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { SubscriptionRules } from '@opsplane/service'
import { z } from 'zod'
import { type ComputeNeeds, findSubscriptions } from './check/needs.js'
import { requireRights, requireUnhidden } from './rights.js'

const Giver = z.object({ grant: z.string(), userId: z.string() })

/** The user whose rights a version or run acts with, and the grant of these rights. */
export type Giver = z.infer<typeof Giver>

/** A version, or one run of it. */
export interface Carrier {
  versionId: string
  runId?: string
}

/** The request of a person who grants their rights. */
export type GiverMeta = Pick<RequestMeta, 'tenant' | 'clientToken' | 'now'> & {
  principal: Pick<RequestMeta['principal'], 'userId' | 'permissions' | 'role' | 'callers'>
}

/** Manages whose rights versions and runs act with: see ADR 120. */
export interface Givers {
  /** The giver of a run itself, otherwise that of its version; `null` if the grant is revoked. */
  of(carrier: Carrier, tenant: TenantScope): Promise<Giver | null>
  /**
   * Asks settings to issue a grant of the caller's rights, limited to those the definition needs. Throws `forbidden`
   * naming missing permissions, or if the caller itself acts with a grant.
   */
  give(
    carrier: Pick<Carrier, 'versionId'>,
    definition: WorkflowDefinition,
    meta: GiverMeta,
    expiresInSeconds?: number | null,
  ): Promise<string>
  /** Like `give`; returns the row that makes the caller the giver. */
  takeOver(carrier: Carrier, definition: WorkflowDefinition, meta: GiverMeta): Promise<ReadModelRow>
  /** Like `takeOver`; returns `null` if the caller is already the giver and the grant is valid. Throws like `give`. */
  takeOverUnlessOwn(
    carrier: Carrier,
    definition: WorkflowDefinition,
    meta: GiverMeta,
  ): Promise<ReadModelRow | null>
  /** Makes the caller the giver of those runs to be continued whose rights have ended. Throws like `give`. */
  transferRuns(
    carried: readonly { carrier: Required<Carrier>; definition: WorkflowDefinition }[],
    meta: GiverMeta,
  ): Promise<void>
}

export interface GiversOptions {
  database: Pick<Database, 'planned'>
  delegations: Pick<Delegations, 'delegate' | 'actingBy'>
  settings: Pick<ServiceClient, 'post'>
  needsOf: ComputeNeeds
  rules: SubscriptionRules
}

export function createGivers(options: GiversOptions): Givers {
  const {
    database: { planned },
    delegations,
    settings,
    needsOf,
    rules,
  } = options

  const of: Givers['of'] = async ({ versionId, runId = null }, { workspaceId, environment }) => {
    const [row] = await planned.unsafe(
      `select state->>'grant' as grant, state->>'userId' as "userId" from version_grants
       where version_id = $1 and (run_id is null or run_id = $2) and workspace_id = $3 and environment = $4
       order by run_id nulls last, place desc limit 1`,
      [versionId, runId, workspaceId, environment],
      { prepare: true },
    )
    return row ? Giver.parse(row) : null
  }

  /** Whether the grant is valid, and its giver still has all rights the definition needs. */
  const isValid = async ({ grant, userId }: Giver, definition: WorkflowDefinition, tenant: TenantScope) => {
    const question = { workspaceId: tenant.workspaceId, userIds: [userId] }
    const { permissions, roles } = await settings.post('/internal/rights', question, Rights)
    const giverRights = permissions[userId]
    if (!giverRights || missingRights(giverRights, await needsOf(definition, tenant)).length > 0) return false
    for (const subscription of findSubscriptions(definition))
      if (!(await rules.permits({ role: roles[userId] }, tenant, subscription))) return false
    try {
      await delegations.actingBy(grant).serviceToken('workflows')
      return true
    } catch (error) {
      if (error instanceof ApiError && hasEnded.has(error.status)) return false
      throw error
    }
  }

  const give: Givers['give'] = async ({ versionId }, definition, meta, expiresInSeconds = null) => {
    const needs = await needsOf(definition, meta.tenant)
    requireRights(meta.principal, needs)
    await requireUnhidden(rules, meta.principal, definition, meta.tenant)
    const delegation = { run: versionId, permissions: [...needs.reads, ...needs.uses], expiresInSeconds }
    const { grant, expiresAt } = await delegations.delegate(meta, delegation)
    if (expiresInSeconds === null && expiresAt !== null)
      throw new ApiError(
        'forbidden',
        'What acts by a grant itself gives a workflow no rights: a person has to.',
      )
    return grant
  }

  const takeOver: Givers['takeOver'] = async (carrier, definition, meta) => {
    const grant = await give(carrier, definition, meta)
    const { userId } = meta.principal
    const state = { ...carrier, runId: carrier.runId ?? null, grant, userId, givenAt: meta.now }
    return { table: 'version_grants', id: newId('grant'), state }
  }

  return {
    of,
    give,
    takeOver,
    async takeOverUnlessOwn(carrier, definition, meta) {
      requireRights(meta.principal, await needsOf(definition, meta.tenant))
      await requireUnhidden(rules, meta.principal, definition, meta.tenant)
      const giver = await of(carrier, meta.tenant)
      const isOwn = giver?.userId === meta.principal.userId && (await isValid(giver, definition, meta.tenant))
      return isOwn ? null : takeOver(carrier, definition, meta)
    },
    async transferRuns(carried, meta) {
      const { tenant } = meta
      const rows: ReadModelRow[] = []
      for (const { carrier, definition } of carried) {
        const giver = await of(carrier, tenant)
        if (!giver || !(await isValid(giver, definition, tenant)))
          rows.push(await takeOver(carrier, definition, meta))
      }
      if (rows.length === 0) return
      await planned.unsafe(
        `insert into version_grants (id, workspace_id, environment, version, state)
         select id, $2, $3, 1, state::json from unnest($1::text[], $4::text[]) as given(id, state)`,
        [
          rows.map(({ id }) => id),
          tenant.workspaceId,
          tenant.environment,
          rows.map(({ state }) => stringifyExact(state)),
        ],
        { prepare: true },
      )
    },
  }
}

/** Revoked, expired, or no longer a member. */
const hasEnded = new Set([401, 403])
