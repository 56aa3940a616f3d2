import type { TenantScope } from '@opsplane/contracts'

/** What belongs to a workspace as a whole (members, keys, the workspace itself) stands in this environment. */
export function workspaceScope(workspaceId: string): TenantScope {
  return { workspaceId, environment: 'production' }
}
