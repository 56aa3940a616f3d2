import type { CommandMeta, TenantScope } from '@opsplane/contracts'

/** What belongs to a workspace as a whole (apps, their pages and data sources) stands in this environment. */
export const toWorkspaceScope = ({ workspaceId }: Pick<TenantScope, 'workspaceId'>): TenantScope => ({
  workspaceId,
  environment: 'production',
})

/** The request as one for what belongs to the whole workspace. */
export const withWorkspaceScope = <Meta extends CommandMeta>(meta: Meta): Meta => ({
  ...meta,
  tenant: toWorkspaceScope(meta.tenant),
})
