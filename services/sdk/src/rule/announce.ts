import {
  ApiError,
  type ArtifactRule,
  type KnownValidation,
  type KnownValidations,
  type TenantScope,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'

/**
 * Has whoever writes records know the validations of a pack. Throws `service_unavailable` where they do not answer: what is
 * in place is in force once they follow the log, and nobody has been promised more.
 */
export type AnnounceValidations = (tenant: TenantScope, packId: string) => Promise<void>

export const announceValidations =
  ({ sql }: Pick<Database, 'sql'>, studio: Pick<ServiceClient, 'post'>): AnnounceValidations =>
  async ({ workspaceId, environment }, packId) => {
    const rows = await sql.unsafe<{ id: string; version: number; rule: ArtifactRule }[]>(
      `select id, version, state->'rule' as rule from artifacts
       where pack_id = $1 and workspace_id = $2 and environment = $3 and kind = 'business_rule' and status <> 'removed'`,
      [packId, workspaceId, environment],
      { prepare: true },
    )
    const validations = rows.flatMap(({ id, version, rule: { validates } }): KnownValidation[] =>
      validates ? [{ artifactId: id, version, validates }] : [],
    )
    if (validations.length === 0) return
    const known: KnownValidations = { workspaceId, environment, validations }
    await studio.post('/internal/validations', known, z.object({})).catch((cause: unknown) => {
      throw new ApiError(
        'service_unavailable',
        'The pack is installed, but its validations are not known to be in force yet. Install it again to be sure.',
        { cause },
      )
    })
  }
