import { z } from 'zod'
import { Restrictions } from './restrictions.js'

export const environments = ['production', 'staging', 'development'] as const
// No component id: the OpenAPI generator would make the component nullable wherever it first meets a nullable use.
export const Environment = z.enum(environments)
export type Environment = z.infer<typeof Environment>

export const Actor = z
  .object({ id: z.string(), name: z.string(), type: z.enum(['user', 'api_token', 'workflow', 'system']) })
  .meta({
    id: 'Actor',
    example: { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada Lovelace', type: 'user' },
  })
export type Actor = z.infer<typeof Actor>

/** The actor of what the platform does by itself, such as pausing a webhook. */
export const systemActor: Actor = { id: 'system', name: 'Opsplane', type: 'system' }

/** Carriers that invoke one another add a caller each; more of them are refused. */
export const maxCallers = 20

/** A person, or what acts for one, as the row rules of tables see them. */
export const RowSubject = z.object({
  actor: Actor,
  userId: z.string(),
  role: z.string().optional(),
  email: z.string().optional(),
})
export type RowSubject = z.infer<typeof RowSubject>

/**
 * Who a request acts as, and where. The gateway builds it from the token and passes it on signed.
 * `workspaceId` and `environment` are absent only on the few routes that work outside a workspace.
 */
export const Principal = z.object({
  actor: Actor,
  userId: z.string(),
  /** The session or API key the request came with. */
  tokenId: z.string(),
  workspaceId: z.string().optional(),
  workspaceSlug: z.string().optional(),
  environment: Environment.optional(),
  /** Name of the principal's role in the workspace. */
  role: z.string().optional(),
  /** Of the person who is logged in, or whose key it is. */
  email: z.string().optional(),
  permissions: z.array(z.string()),
  /** Of the session of a browser: when the person last proved who they are. */
  provedAt: z.string().optional(),
  /** It acts by the rights of a session that an app, a workflow or a pack carries, with or without a person present. */
  carriesSession: z.literal(true).optional(),
  /** The session of a login that operates the installation. */
  operator: z.literal(true).optional(),
  /** Of a session that enters one workspace alone, as its identity provider is trusted in that one alone. */
  onlyWorkspaceId: z.string().optional(),
  /** On whose request the principal acts, and by whose rights: their row rules apply as well as its own. */
  callers: z.array(RowSubject).max(maxCallers).optional(),
  /** Absent: whatever the permissions allow. */
  restrictions: Restrictions.optional(),
})
export type Principal = z.infer<typeof Principal>

/** Workspace and environment: the scope every query is filtered by. */
export interface TenantScope {
  workspaceId: string
  environment: Environment
}

/** Names a tenant, as the key of what is kept for each. */
export const tenantKey = ({ workspaceId, environment }: TenantScope): string =>
  `${workspaceId}/${environment}`

/** The scope of what belongs to no workspace, such as a person's login. No subscription reaches it. */
export const platformTenant: TenantScope = { workspaceId: 'platform', environment: 'production' }
