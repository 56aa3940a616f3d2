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

/** The actor of the platform's own actions, such as pausing a webhook. */
export const systemActor: Actor = { id: 'system', name: 'Opsplane', type: 'system' }

/** Apps, workflows and packs that invoke one another each add a caller; a longer chain is rejected. */
export const maxCallers = 20

/** A person, or an actor that acts for one, as evaluated by the row rules of tables. */
export const RowSubject = z.object({
  actor: Actor,
  userId: z.string(),
  role: z.string().optional(),
  email: z.string().optional(),
})
export type RowSubject = z.infer<typeof RowSubject>

/**
 * Who a request acts for, and in which workspace and environment. The gateway builds it from the token and forwards it
 * signed. `workspaceId` and `environment` are absent only on the few routes outside a workspace.
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
  /** Email address of the signed-in person, or of the owner of the API key. */
  email: z.string().optional(),
  permissions: z.array(z.string()),
  /** Browser sessions only: when the person last proved their identity. */
  provedAt: z.string().optional(),
  /** Set if an app, a workflow or a pack acts with the rights of a person's session, with or without the person present. */
  carriesSession: z.literal(true).optional(),
  /** Set for sessions of logins that operate the installation. */
  operator: z.literal(true).optional(),
  /** Set for sessions limited to one workspace, because only that workspace trusts their identity provider. */
  onlyWorkspaceId: z.string().optional(),
  /**
   * The callers on whose request and with whose rights the principal acts: their
   * row rules apply in addition to its own.
   */
  callers: z.array(RowSubject).max(maxCallers).optional(),
  /** If absent, only the permissions limit the principal. */
  restrictions: Restrictions.optional(),
})
export type Principal = z.infer<typeof Principal>

/** Workspace and environment: the scope every query is filtered by. */
export interface TenantScope {
  workspaceId: string
  environment: Environment
}

/** Key of a tenant in maps and caches. */
export const tenantKey = ({ workspaceId, environment }: TenantScope): string =>
  `${workspaceId}/${environment}`

/** The scope of data that belongs to no workspace, such as logins. No subscription receives its events. */
export const platformTenant: TenantScope = { workspaceId: 'platform', environment: 'production' }
