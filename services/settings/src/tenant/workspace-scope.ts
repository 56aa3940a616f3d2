import type { TenantScope } from '@opsplane/contracts'

/**
 * The scope of resources of a whole workspace (members, keys, the workspace itself), which are stored under one
 * environment.
 */
export function workspaceScope(workspaceId: string): TenantScope {
  return { workspaceId, environment: 'production' }
}
