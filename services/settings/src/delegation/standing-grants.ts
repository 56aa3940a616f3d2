import type { Principal } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'

interface NewGrant {
  id: string
  workspaceId: string
  principal: Principal
  /** The service that has the grant, and its purpose. */
  by: string
  run: string
  /** The end of the API key it was given by; null where none was, or it has no end. */
  keyEndsAt: string | null
}

/** Grants without an end of their own: each has a row, by which it ends. */
export function standingGrants({ sql }: Pick<Database, 'sql'>) {
  return {
    async add({ id, workspaceId, principal, by, run, keyEndsAt }: NewGrant): Promise<void> {
      await sql`
        insert into standing_grants (id, workspace_id, user_id, service, purpose, key_id, key_ends_at)
        values (${id}, ${workspaceId}, ${principal.userId}, ${by}, ${run}, ${isKey(principal) ? principal.tokenId : null}, ${keyEndsAt})`
    },
    async isValid(id: string): Promise<boolean> {
      const rows = await sql`select 1 from standing_grants where id = ${id} and revoked_at is null`
      return rows.length > 0
    },
    async revoke(id: string): Promise<void> {
      await sql`update standing_grants set revoked_at = clock_timestamp() where id = ${id} and revoked_at is null`
    },
  }
}

export const isKey = ({ tokenId }: Pick<Principal, 'tokenId'>): boolean => tokenId.startsWith('tok_')
