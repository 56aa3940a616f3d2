import { type Limits, quotaExceeded } from '@opsplane/runtime'
import type { Sql } from 'postgres'

interface Part {
  importId: string
  part: number
  content: Buffer
}

/**
 * Limits on a workspace's uploaded files until they are imported. Counted on arrival, so parts that arrive concurrently
 * may exceed a limit slightly.
 */
export function createImportQuota(sql: Sql, limits: Limits) {
  return {
    /** Throws `quota_exceeded` if the workspace already has the maximum number of imports. */
    async refuseMore(workspaceId: string): Promise<void> {
      const maxImports = limits.of('imports', workspaceId)
      if (maxImports === 0) return
      const [found] = await sql<{ count: number }[]>`
        select count(*)::int4 as count from record_imports
        where workspace_id = ${workspaceId} and status in ('uploading', 'pending')`
      if ((found?.count ?? 0) >= maxImports) throw quotaExceeded('imports', maxImports)
    },

    /** Stores a part of a file. Throws `quota_exceeded` if the files exceed the byte limit. */
    async keepPart(workspaceId: string, { importId, part, content }: Part): Promise<void> {
      const [found] = await sql<{ bytes: string }[]>`
        with part as (
          insert into record_import_parts (import_id, part, content) values (${importId}, ${part}, ${content})
        ), file as (
          update record_imports set bytes = bytes + ${content.length} where id = ${importId}
        )
        select coalesce(sum(bytes), 0)::text as bytes from record_imports
        where workspace_id = ${workspaceId} and status in ('uploading', 'pending')`
      const maxBytes = limits.of('importBytes', workspaceId)
      if (maxBytes > 0 && Number(found?.bytes ?? 0) + content.length > maxBytes)
        throw quotaExceeded('importBytes', maxBytes)
    },
  }
}
