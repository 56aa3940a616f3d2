import {
  canonicalJson,
  DeploymentContents,
  notFound,
  type ReadModelRow,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Draft } from '../draft.js'

/** Data of a deployment stored in addition to its event. */
export const StoredContents = z.object({
  contents: DeploymentContents,
  /**
   * Only for deployments stored before their state had a grant: the grant that embeds act with, `null` if not
   * embeddable.
   */
  grant: z.string().nullable(),
  createdAt: z.string(),
})
export type StoredContents = z.infer<typeof StoredContents>

/** The part of a draft that is deployed. */
export function toContents({ pages, sources }: Draft): DeploymentContents {
  return DeploymentContents.parse({ pages, sources })
}

export const computeDigest = (contents: DeploymentContents): string => sha256Hex(canonicalJson(contents))

export const contentsRow = (id: string, contents: StoredContents): ReadModelRow => ({
  table: 'deployment_contents',
  id,
  state: { ...contents },
})

/**
 * Loads contents by the id of their deployment. They are immutable and cached; the least recently used ones are
 * evicted.
 */
export type LoadContents = (id: string, tenant: TenantScope) => Promise<StoredContents>

const maxKept = 200

export function createContentsLoader({ sql }: Pick<Database, 'sql'>): LoadContents {
  const kept = new LRUCache<string, Promise<StoredContents>>({ max: maxKept })
  const read = async (id: string, { workspaceId, environment }: TenantScope) => {
    const [row] = await sql.unsafe(
      'select state from deployment_contents where id = $1 and workspace_id = $2 and environment = $3',
      [id, workspaceId, environment],
      { prepare: true },
    )
    if (!row) throw notFound()
    return StoredContents.parse(row.state)
  }
  return (id, tenant) => {
    const key = `${tenant.workspaceId}/${tenant.environment}/${id}`
    const known = kept.get(key)
    if (known) return known
    const found = read(id, tenant)
    kept.set(key, found)
    found.catch(() => kept.delete(key))
    return found
  }
}
