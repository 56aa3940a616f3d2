import { type Drizzle, dueNow, type LeasedRow, quoteLiteral, type StatementRunner } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { knowledgeChunks as chunks, knowledgePublished as published } from '../../schema/knowledge.js'
import { splitIntoChunks } from './chunks.js'
import type { Embedder } from './embedder.js'

const articlesAtOnce = 20
const Text = z.object({ title: z.string(), summary: z.string().nullable(), body: z.string() })

/** Selects the published versions to embed: all of them, or those in `languages` if given. Values are SQL literals. */
export interface EmbeddingTarget {
  model: string
  languages?: readonly string[] | undefined
}

/** SQL condition: a published version needs chunks for the model and has none yet. */
const isUnembedded = ({ model, languages }: EmbeddingTarget) => `not exists (select 1 from knowledge_chunks c
  where c.article_id = knowledge_published.id and c.model = ${model}
    and c.source_version = knowledge_published.version)${
      languages ? ` and knowledge_published.language in (${languages.join(', ')})` : ''
    }`

/** SQL expression for the next due time: immediately if there is anything to queue, otherwise null. */
export const nextUnembedded = (wanted: EmbeddingTarget) =>
  `(select '-infinity'::timestamptz from knowledge_published where ${isUnembedded(wanted)} limit 1)`

/**
 * Queues the chunks of published versions that the model has not embedded yet. Then deletes the chunks of versions that
 * are no longer published, which no search reads. A chunk with unchanged text keeps its vector. `at`: the current time
 * if it is simulated, otherwise `null`.
 */
export function queueChunks(
  db: Drizzle,
  { model, languages }: Pick<Embedder, 'model' | 'languages'>,
  at: string | null,
): Promise<void> {
  const sqlLiterals = { model: quoteLiteral(model), languages: languages?.map(quoteLiteral) }
  const { id, workspaceId, environment, version, state } = published
  const dueAt = at === null ? sql`now()` : dueNow(at)
  return db.transaction(async (tx) => {
    const rows = await tx
      .select({ id, workspaceId, environment, version, state })
      .from(published)
      .where(sql.raw(isUnembedded(sqlLiterals)))
      .limit(articlesAtOnce)
    if (rows.length === 0) return
    for (const row of rows) {
      const values = splitState(row.state).map(({ content, ...fault }, ordinal) => {
        const contentHash = sha256Hex(content)
        return {
          id: `${row.id}.${row.version}.${ordinal}.${model}`,
          ...{ workspaceId: row.workspaceId, environment: row.environment },
          ...{ articleId: row.id, sourceVersion: row.version, model, content, contentHash, dueAt },
          vector: sql`(select c.vector from knowledge_chunks c where c.article_id = ${row.id}
            and c.model = ${model} and c.content_hash = ${contentHash} and c.vector is not null limit 1)`,
          ...fault,
        }
      })
      await tx.insert(chunks).values(values).onConflictDoNothing()
    }
    await tx.delete(chunks).where(
      sql`not exists (select 1 from ${published} where ${id} = ${chunks.articleId}
        and ${version} = ${chunks.sourceVersion})`,
    )
  })
}

/** A state that cannot be parsed is queued but never due, so that it does not block the queue. */
function splitState(state: unknown): { content: string; dueAt?: string; lastError?: string }[] {
  const text = Text.safeParse(state)
  if (text.success) return splitIntoChunks(text.data).map((content) => ({ content }))
  return [{ content: '', dueAt: 'infinity', lastError: text.error.message.slice(0, 500) }]
}

/** A chunk claimed for one attempt. */
export interface ClaimedChunk extends LeasedRow {
  content: string
}

export const storeVectors = (
  tx: StatementRunner,
  finished: readonly { row: ClaimedChunk; result: Float32Array }[],
) =>
  tx.unsafe(
    `update knowledge_chunks set vector = decode(given.vector, 'hex')
     from unnest($1::text[], $2::text[]) given (id, vector) where knowledge_chunks.id = given.id`,
    [finished.map(({ row }) => row.key), finished.map(({ result }) => toBytes(result).toString('hex'))],
    { prepare: true },
  )

function toBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(vector.length * 4)
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * 4)
  return bytes
}
