import { eventPermission, type NeededRights, type Permission, permissions } from '@opsplane/contracts'
import type { FindPermission } from '@opsplane/http'
import type { PackArtifact } from '@opsplane/pack-format'

/** Rights needed to install artifacts in addition to `sdk:write`; the installer must keep them. */
export async function findNeededRights(
  artifacts: readonly Pick<PackArtifact, 'permissions' | 'rule'>[],
  permissionOf: FindPermission,
): Promise<NeededRights> {
  const reads = new Set(artifacts.flatMap(({ rule }) => rule?.events ?? []).map(eventPermission))
  const uses = new Set<Permission>(artifacts.flatMap(usesOf))
  for (const operation of new Set(artifacts.flatMap(({ permissions: { api } }) => api))) {
    const permission = await permissionOf(operation)
    if (permission) uses.add(permission)
  }
  return {
    reads: permissions.filter((each) => reads.has(each)),
    uses: permissions.filter((each) => uses.has(each)),
  }
}

function usesOf({ permissions: asked, rule }: Pick<PackArtifact, 'permissions' | 'rule'>): Permission[] {
  const access = Object.values(asked.tables).flat()
  const needed: [boolean, Permission][] = [
    [asked.secrets.length + asked.secretsPlain.length > 0, 'secrets:use'],
    [asked.connectors.length > 0, 'connectors:invoke'],
    [asked.topics.length > 0, 'topics:write'],
    [access.includes('read'), 'records:read'],
    [access.includes('write'), 'records:write'],
    // A validation affects every write.
    [rule?.validates !== undefined, 'tables:write'],
  ]
  return needed.flatMap(([needs, permission]) => (needs ? [permission] : []))
}
