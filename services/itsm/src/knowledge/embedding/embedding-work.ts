import { type Drizzle, leasedWorker, nextDue, quoteLiteral } from '@opsplane/postgres'
import { dueChunks } from '../../schema/knowledge.js'
import { type ClaimedChunk, nextUnembedded, queueChunks, storeVectors } from './chunk-queue.js'
import type { Embedder } from './embedder.js'

/** Number of chunks per request. */
const atOnce = 16
const deadlineMs = 30_000

/** Embeds published articles. The work to do is read from the database, so nothing is lost. */
export function embeddingWork({ db, embedder }: { db: Drizzle; embedder: Embedder }) {
  const model = quoteLiteral(embedder.model)
  const sqlLiterals = { model, languages: embedder.languages?.map(quoteLiteral) }
  return leasedWorker<ClaimedChunk, Float32Array>({
    name: 'embeddings',
    of: dueChunks,
    columns: ['content'],
    batch: atOnce,
    together: atOnce,
    deadlineMs,
    where: `model = ${model}`,
    nextDue: `least(${nextDue(dueChunks)}, ${nextUnembedded(sqlLiterals)})`,
    retry: { baseMs: 2_000, maxMs: 600_000 },
    prepare: ({ at }) => queueChunks(db, embedder, at()),
    perform: (rows) =>
      embedder.embed(
        rows.map(({ content }) => content),
        deadlineMs,
      ),
    done: storeVectors,
  })
}
