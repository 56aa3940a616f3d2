import type { TenantScope } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { and, desc, eq, lt, or, sql } from 'drizzle-orm'
import { ofTenant } from '../queries.js'
import { knowledgePublished as table } from '../tables.js'
import { type CorpusModel, fitCorpus, type LexemeCounts } from './corpus-model.js'
import { lexemeCounts } from './lexemes.js'
import { ownerColumns, toOwner, type VectorMatrix, type VectorOwner } from './nearest.js'
import type { SearchPatience } from './patience.js'
import { sizedCache } from './sized-cache.js'

export interface CorpusIndex extends VectorMatrix {
  model: CorpusModel
  stamp: string
  bytes: number
}

export type CorpusAnswer = { index: CorpusIndex } | { reason: 'corpus_too_small' | 'corpus_not_ready' }

/** Too few articles say nothing of which words belong together. */
const fewestArticles = 8
/** The newest ones; the others are found by their words. */
const mostArticles = 4_000
const mostBytes = 256 * 1024 * 1024
const pageSize = 100

/**
 * Vectors learnt from each tenant's own published articles, in memory: learning them again is quicker than
 * keeping them right. After a publication the present ones serve until the new ones are there.
 */
export function corpusIndexes(db: Drizzle, log: Logger, patience: SearchPatience) {
  const ready = sizedCache<CorpusIndex>(mostBytes)
  const building = new Map<string, Promise<CorpusIndex | null>>()

  const build = async (tenant: TenantScope, stamp: string): Promise<CorpusIndex | null> => {
    const { owners, counts } = await readCorpus(db, tenant)
    if (owners.length < fewestArticles) return null
    const model = await fitCorpus(counts)
    const { dims, vectors } = model
    return { dims, vectors, owners, model, stamp, bytes: model.bytes + owners.length * 300 }
  }

  const start = (key: string, tenant: TenantScope, stamp: string) => {
    const running = building.get(key)
    if (running) return running
    const built = build(tenant, stamp)
      .then((index) => {
        if (index) ready.set(key, index)
        return index
      })
      .finally(() => building.delete(key))
    built.catch((error: unknown) => log.warn({ err: error }, 'the vectors of a corpus could not be made'))
    building.set(key, built)
    return built
  }

  return {
    /** The tenant's vectors, or why there are none. */
    async of(tenant: TenantScope, stamp: string): Promise<CorpusAnswer> {
      const articles = Number(stamp.split('/')[0])
      if (articles < fewestArticles) return { reason: 'corpus_too_small' }
      const key = `${tenant.workspaceId}/${tenant.environment}`
      const present = ready.get(key)
      if (present?.stamp === stamp) return { index: present }
      const built = start(key, tenant, stamp).catch(() => null)
      if (present) return { index: present }
      const index = await Promise.race([built, after(patience.corpusMs)])
      return index ? { index } : { reason: 'corpus_not_ready' }
    },
    /** Nothing is being learnt any more; for an orderly end. */
    async close(): Promise<void> {
      await Promise.allSettled(building.values())
    },
  }
}
export type CorpusIndexes = ReturnType<typeof corpusIndexes>

const after = (ms: number) =>
  new Promise<null>((resolve) => {
    setTimeout(() => resolve(null), ms).unref()
  })

/** Page by page, so that long articles are never all in memory as text. */
async function readCorpus(db: Drizzle, tenant: TenantScope) {
  const owners: VectorOwner[] = []
  const counts: LexemeCounts[] = []
  let last: { createdAt: string | null; id: string } | undefined
  while (owners.length < mostArticles) {
    const { createdAt, id } = table
    const rows = await db
      .select({ ...ownerColumns, createdAt, lexemes: sql<string>`${table.search}::text` })
      .from(table)
      .where(
        and(
          ofTenant(table, tenant),
          last &&
            or(
              lt(createdAt, last.createdAt ?? ''),
              and(eq(createdAt, last.createdAt ?? ''), lt(id, last.id)),
            ),
        ),
      )
      .orderBy(desc(createdAt), desc(id))
      .limit(pageSize)
    for (const row of rows) {
      owners.push(toOwner(row))
      counts.push(lexemeCounts(row.lexemes))
    }
    last = rows.at(-1)
    if (rows.length < pageSize) break
  }
  return { owners, counts }
}
