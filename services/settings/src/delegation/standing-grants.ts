import type { Principal } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'

interface NewGrant {
  id: string
  workspaceId: string
  principal: Principal
  /** The service that owns the grant; `run` is its purpose. */
  by: string
  run: string
  /** Expiry of the API key the grant was given with; `null` without a key, or if the key does not expire. */
  keyEndsAt: string | null
}

/** Grants without an expiry. Each has a row, whose removal revokes it. */
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
