import type { ArtifactUse, TenantScope } from '@opsplane/contracts'

/** The names under which an artifact may be used. */
export interface UsedArtifact {
  id: string
  slug: string
}

/** Finds resources that use artifacts, such as workflows and jobs. */
export type FindUses = (tenant: TenantScope, artifacts: readonly UsedArtifact[]) => Promise<ArtifactUse[]>

export const allUses =
  (finders: readonly FindUses[]): FindUses =>
  async (tenant, artifacts) => {
    if (artifacts.length === 0) return []
    return (await Promise.all(finders.map((find) => find(tenant, artifacts)))).flat()
  }
