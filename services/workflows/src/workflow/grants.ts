import { startDaily } from '@opsplane/eventstore'
import type { Delegations } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { z } from 'zod'

const Version = z.object({ id: z.string(), grant: z.string() })
const versionsAtOnce = 100

/**
 * Revokes the grants of archived workflows none of whose runs is under way, and then forgets that there is anything to be
 * revoked. Repeated after a crash, which changes nothing: a grant ends once. `workflowId`: of this one only.
 */
export async function revokeArchived(
  { sql }: Pick<Database, 'sql'>,
  { revoke }: Pick<Delegations, 'revoke'>,
  { workflowId = null, closing }: { workflowId?: string | null; closing?: AbortSignal } = {},
): Promise<void> {
  for (let found = versionsAtOnce; found === versionsAtOnce && !closing?.aborted; ) {
    const rows = await sql.unsafe(
      `select v.id, v.state->>'grant' as grant from workflows w join workflow_versions v on v.workflow_id = w.id
       where w.status = 'archived' and ($1::text is null or w.id = $1)
         and not exists (select from revoked_versions r where r.version_id = v.id)
         and not exists (select from runs where workflow_id = w.id and ended_at is null)
       limit ${versionsAtOnce}`,
      [workflowId],
      { prepare: true },
    )
    const versions = z.array(Version).parse([...rows])
    for (const { id, grant } of versions) {
      await revoke(grant)
      await sql`insert into revoked_versions (version_id) values (${id}) on conflict do nothing`
    }
    found = versions.length
  }
}

/** Does so now and every day, for those whose last run ends later. */
export const startRevocation = (
  { database, log }: ServiceContext,
  delegations: Delegations,
): BackgroundWork =>
  startDaily(log, 'grants of archived workflows could not be revoked', (closing) =>
    revokeArchived(database, delegations, { closing }),
  )
