import type { Drizzle } from '@opsplane/postgres'
import { retryDelayMs, sha256Hex } from '@opsplane/runtime'
import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import { z } from 'zod'
import { knowledgeChunks as chunks, knowledgePublished as published } from '../tables.js'
import { chunksOf } from './chunks.js'

const articlesAtOnce = 20
const Text = z.object({ title: z.string(), summary: z.string().nullable(), body: z.string() })

/**
 * Queues the pieces of articles the model has not seen in their published version, and then drops those of versions
 * that are no longer published, which no search reads any more. A piece whose text is unchanged keeps its vector. Returns how many articles.
 */
export function queueChunks(db: Drizzle, model: string, nowMs: number): Promise<number> {
  const { id, workspaceId, environment, version, state } = published
  return db.transaction(async (tx) => {
    const rows = await tx
      .select({ id, workspaceId, environment, version, state })
      .from(published)
      .where(
        sql`not exists (select 1 from ${chunks} where ${chunks.articleId} = ${id}
          and ${chunks.model} = ${model} and ${chunks.sourceVersion} = ${version})`,
      )
      .limit(articlesAtOnce)
    if (rows.length === 0) return 0
    for (const row of rows) {
      const values = chunksOf(Text.parse(row.state)).map((content, ordinal) => {
        const contentHash = sha256Hex(content)
        return {
          id: `${row.id}.${row.version}.${ordinal}.${model}`,
          ...{ workspaceId: row.workspaceId, environment: row.environment },
          ...{ articleId: row.id, sourceVersion: row.version, model, content, contentHash, dueAt: nowMs },
          vector: sql`(select c.vector from knowledge_chunks c where c.article_id = ${row.id}
            and c.model = ${model} and c.content_hash = ${contentHash} and c.vector is not null limit 1)`,
        }
      })
      await tx.insert(chunks).values(values).onConflictDoNothing()
    }
    await tx.delete(chunks).where(
      sql`not exists (select 1 from ${published} where ${id} = ${chunks.articleId}
        and ${version} = ${chunks.sourceVersion})`,
    )
    return rows.length
  })
}

/** A piece leased for one attempt. */
export interface ClaimedChunk {
  id: string
  content: string
  /** With this one. */
  attempts: number
}

/** Leases pieces without a vector, the longest due first. Replicas pass over each other's. */
export function claimChunks(
  db: Drizzle,
  { model, nowMs, leaseMs, limit }: { model: string; nowMs: number; leaseMs: number; limit: number },
): Promise<ClaimedChunk[]> {
  return db.transaction(async (tx) => {
    const { id, content, attempts } = chunks
    const rows = await tx
      .select({ id, content, attempts })
      .from(chunks)
      .where(and(eq(chunks.model, model), isNull(chunks.vector), lte(chunks.dueAt, nowMs)))
      .orderBy(asc(chunks.dueAt))
      .limit(limit)
      .for('update', { skipLocked: true })
    if (rows.length === 0) return []
    await tx
      .update(chunks)
      .set({ dueAt: nowMs + leaseMs, attempts: sql`${attempts} + 1` })
      .where(
        inArray(
          id,
          rows.map((row) => row.id),
        ),
      )
    return rows.map((row) => ({ ...row, attempts: row.attempts + 1 }))
  })
}

export async function storeVectors(
  db: Drizzle,
  claimed: ClaimedChunk[],
  vectors: Float32Array[],
): Promise<void> {
  await db.transaction(async (tx) => {
    for (const [at, { id }] of claimed.entries()) {
      const vector = vectors[at]
      if (vector)
        await tx
          .update(chunks)
          .set({ vector: toBytes(vector), lastError: null })
          .where(eq(chunks.id, id))
    }
  })
}

/** Tries again after 2 s, 4 s, 8 s, … at most 10 min apart, for as long as the article is published. */
export async function postpone(
  db: Drizzle,
  claimed: ClaimedChunk[],
  nowMs: number,
  reason: string,
): Promise<void> {
  for (const { id, attempts } of claimed) {
    const dueAt =
      nowMs + retryDelayMs({ attempt: attempts, strategy: 'exponential', baseMs: 2_000, maxMs: 600_000 })
    await db
      .update(chunks)
      .set({ dueAt, lastError: reason.slice(0, 500) })
      .where(eq(chunks.id, id))
  }
}

function toBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4)
  return bytes
}
