import type { ArtifactUse, TenantScope } from '@opsplane/contracts'

/** An artifact as those who use it may name it. */
export interface UsedArtifact {
  id: string
  slug: string
}

/** Finds what uses artifacts: workflows, jobs. */
export type FindUses = (tenant: TenantScope, artifacts: readonly UsedArtifact[]) => Promise<ArtifactUse[]>

export const allUses =
  (finders: readonly FindUses[]): FindUses =>
  async (tenant, artifacts) => {
    if (artifacts.length === 0) return []
    return (await Promise.all(finders.map((find) => find(tenant, artifacts)))).flat()
  }
