import type { SearchMode } from '@opsplane/contracts'
import type { Breaker } from '../embedding/breaker.js'
import { type Embedder, EmbeddingError } from '../embedding/embedder.js'
import type { EmbeddingIndexes } from '../embedding/embedding-index.js'
import type { Analysis } from './analysis.js'
import type { CorpusIndexes } from './corpus-index.js'
import { nearest } from './nearest.js'
import type { SearchPatience } from './patience.js'
import type { SearchScope } from './scope.js'

export interface VectorAnswer {
  searchMode: SearchMode
  /** Why no better mode was used. */
  degraded: string | null
  ids: string[]
}

export interface Embeddings {
  embedder: Embedder
  indexes: EmbeddingIndexes
  breaker: Breaker
}

/** Below these cosines neighbours are chance: measured on the relevance set. */
const leastCorpus = 0.1
const leastEmbedding = 0.2

/** Embeddings where they can be had, else vectors of the corpus, else none; never two kinds in one list. */
export function vectorLeg(corpus: CorpusIndexes, embeddings: Embeddings | null, patience: SearchPatience) {
  const byEmbeddings = async (
    scope: SearchScope,
    { query }: Analysis,
  ): Promise<string[] | { reason: string }> => {
    if (!embeddings) return { reason: 'none' }
    const { embedder, indexes, breaker } = embeddings
    if (breaker.isOpen()) return { reason: 'embeddings_paused' }
    const index = await indexes.of(scope.tenant)
    if (!index) return { reason: 'embeddings_pending' }
    try {
      const [vector] = await embedder.embed([query], patience.embeddingMs)
      breaker.succeeded()
      if (vector?.length !== index.dims) return { reason: 'embeddings_dimensions' }
      return nearest(index, vector, scope, leastEmbedding)
    } catch (error) {
      breaker.failed()
      if (error instanceof EmbeddingError) return { reason: error.code }
      throw error
    }
  }

  const byCorpus = async (scope: SearchScope, { stamp, lexemes }: Analysis): Promise<VectorAnswer> => {
    const answer = await corpus.of(scope.tenant, stamp)
    if ('reason' in answer) return { searchMode: 'lexical', degraded: answer.reason, ids: [] }
    const vector = answer.index.model.queryVector(lexemes)
    const ids = vector ? nearest(answer.index, vector, scope, leastCorpus) : []
    return { searchMode: 'hybrid_corpus', degraded: null, ids }
  }

  return async (scope: SearchScope, analysis: Analysis): Promise<VectorAnswer> => {
    const embedded = await byEmbeddings(scope, analysis)
    if (Array.isArray(embedded)) return { searchMode: 'hybrid_embeddings', degraded: null, ids: embedded }
    const answer = await byCorpus(scope, analysis)
    return embeddings ? { ...answer, degraded: embedded.reason } : answer
  }
}
