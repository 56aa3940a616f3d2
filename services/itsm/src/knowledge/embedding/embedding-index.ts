import { type TenantScope, tenantKey } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { knowledgeChunks as chunks, knowledgePublished as published } from '../../schema/knowledge.js'
import { inTenant } from '../queries.js'
import { ownerColumns, toOwner, type VectorMatrix } from '../search/nearest-vectors.js'
import { versionStamp } from '../search/version-stamp.js'

export interface EmbeddingIndex extends VectorMatrix {
  stamp: string
  bytes: number
}

const maxChunks = 50_000
const maxCachedBytes = 256 * 1024 * 1024

/** The vectors of one model, one matrix per tenant. They are read from the database and cached until they change. */
export function embeddingIndexes(db: Drizzle, model: string, maxBytes = maxCachedBytes) {
  // An index larger than `maxBytes` counts as `maxBytes`, so it
  // is cached alone. Otherwise each search would read it again.
  const ready = new LRUCache<string, EmbeddingIndex>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => Math.min(bytes, maxBytes),
  })
  const mine = (tenant: TenantScope) =>
    and(
      eq(chunks.workspaceId, tenant.workspaceId),
      eq(chunks.environment, tenant.environment),
      eq(chunks.model, model),
      isNotNull(chunks.vector),
    )

  const read = async (tenant: TenantScope, stamp: string): Promise<EmbeddingIndex | null> => {
    const rows = await db
      .select({ ...ownerColumns, vector: chunks.vector })
      .from(chunks)
      .innerJoin(
        published,
        and(eq(published.id, chunks.articleId), eq(published.version, chunks.sourceVersion)),
      )
      .where(and(mine(tenant), inTenant(published, tenant)))
      .orderBy(asc(chunks.id))
      .limit(maxChunks)
    const dims = (rows[0]?.vector?.length ?? 0) / 4
    // If the model's vector length has changed, vectors of the other length are ignored.
    const fitting = rows.filter(({ vector }) => vector?.length === dims * 4)
    if (dims === 0) return null
    const vectors = new Float32Array(fitting.length * dims)
    for (const [row, { vector }] of fitting.entries())
      for (let dim = 0; dim < dims; dim++) vectors[row * dims + dim] = vector?.readFloatLE(dim * 4) ?? 0
    return {
      dims,
      vectors,
      owners: fitting.map(toOwner),
      stamp,
      bytes: vectors.byteLength + fitting.length * 300,
    }
  }

  return {
    /** Returns `null` while nothing of the tenant is embedded. */
    async of(tenant: TenantScope): Promise<EmbeddingIndex | null> {
      const [row] = await db
        .select({ stamp: sql<string>`coalesce(${versionStamp(chunks.id, chunks.sourceVersion)}, 0)::text` })
        .from(chunks)
        .where(mine(tenant))
      const stamp = row?.stamp ?? ''
      const key = tenantKey(tenant)
      const present = ready.get(key)
      if (present?.stamp === stamp) return present
      const index = await read(tenant, stamp)
      if (index) ready.set(key, index)
      return index
    },
  }
}
export type EmbeddingIndexes = ReturnType<typeof embeddingIndexes>
