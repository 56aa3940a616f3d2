import {
  ApiError,
  ArtifactRule,
  type KnownValidation,
  type PlatformEvent,
  type TenantScope,
} from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { z } from 'zod'

type Studio = Pick<ServiceClient, 'post'>

/**
 * Sends the validations of a pack to the services that write records. Throws `service_unavailable` if they are
 * unavailable: then the validations take effect once their events arrive there.
 */
export type AnnounceValidations = (tenant: TenantScope, packId: string) => Promise<void>

export const announceValidations =
  ({ sql }: Pick<Database, 'sql'>, studio: Studio): AnnounceValidations =>
  async (tenant, packId) => {
    const rows = await sql.unsafe<{ id: string; version: number; rule: ArtifactRule }[]>(
      `select id, version, state->'rule' as rule from artifacts
       where pack_id = $1 and workspace_id = $2 and environment = $3 and kind = 'business_rule' and status <> 'removed'`,
      [packId, tenant.workspaceId, tenant.environment],
      { prepare: true },
    )
    const validations = rows.flatMap(({ id, version, rule: { validates } }): KnownValidation[] =>
      validates ? [{ artifactId: id, version, validates }] : [],
    )
    if (validations.length === 0) return
    const message =
      'The pack is installed, but its validations are not known to be in force yet. Install it again to be sure.'
    await sendValidations(studio, { tenant, validations }, message)
  }

/**
 * Sends validations from the event log until they are acknowledged: those not acknowledged before, suspended and
 * removed ones.
 */
export const followValidations = (
  { consume }: Pick<ServiceContext, 'consume'>,
  studio: Studio,
): BackgroundWork =>
  consume({
    durable: 'sdk-validations',
    types: ['artifact.created', 'artifact.updated', 'artifact.removed'],
    perform: async (events) => {
      for (const event of events) {
        const validations = validationIn(event)
        if (validations.length > 0)
          await sendValidations(
            studio,
            { tenant: event, validations },
            'The database studio does not answer.',
          )
      }
    },
  })

const Artifact = z.object({ status: z.string(), rule: ArtifactRule.nullable() })

/**
 * A suspended validation is still listed but not run, so `whenUnavailable` decides about its records. Empty for
 * artifacts that never were validations.
 */
function validationIn({ resource, version, data: { before, after } }: PlatformEvent): KnownValidation[] {
  const { status, rule } = Artifact.parse(after)
  const was = before === null ? undefined : Artifact.parse(before).rule?.validates
  const validates = (status === 'removed' ? undefined : rule?.validates) ?? null
  return was || validates ? [{ artifactId: resource.id, version, validates }] : []
}

async function sendValidations(
  studio: Studio,
  { tenant, validations }: { tenant: TenantScope; validations: KnownValidation[] },
  message: string,
): Promise<void> {
  const { workspaceId, environment } = tenant
  await studio
    .post('/internal/validations', { workspaceId, environment, validations }, z.object({}))
    .catch((cause: unknown) => {
      throw new ApiError('service_unavailable', message, { cause })
    })
}
