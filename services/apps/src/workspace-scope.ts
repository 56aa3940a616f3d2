import type { CommandMeta, TenantScope } from '@opsplane/contracts'

/** Resources of a whole workspace (apps, their pages and data sources) are stored under this environment. */
export const toWorkspaceScope = ({ workspaceId }: Pick<TenantScope, 'workspaceId'>): TenantScope => ({
  workspaceId,
  environment: 'production',
})

/** The request, rescoped to resources of the whole workspace. */
export const withWorkspaceScope = <Meta extends CommandMeta>(meta: Meta): Meta => ({
  ...meta,
  tenant: toWorkspaceScope(meta.tenant),
})
