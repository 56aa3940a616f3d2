import type { SearchMode } from '@opsplane/contracts'
import type { Breaker } from '../embedding/breaker.js'
import { type Embedder, EmbeddingError } from '../embedding/embedder.js'
import type { EmbeddingIndexes } from '../embedding/embedding-index.js'
import type { Analysis } from './analysis.js'
import { findNearest } from './nearest-vectors.js'
import type { SearchScope } from './scope.js'
import type { SearchTimeouts } from './timeouts.js'

export interface VectorAnswer {
  searchMode: SearchMode
  /** Reason why vectors were not used; `null` if they were. */
  degraded: string | null
  ids: string[]
}

export interface Embeddings {
  embedder: Embedder
  indexes: EmbeddingIndexes
  breaker: Breaker
}

/** Finds articles with a similar meaning by the vectors of a model. Without vectors, the answer contains the reason. */
export function vectorLeg(embeddings: Embeddings | null, timeouts: SearchTimeouts) {
  const byEmbeddings = async (
    scope: SearchScope,
    { query, languages }: Analysis,
  ): Promise<string[] | { reason: string }> => {
    if (!embeddings) return { reason: 'embeddings_not_configured' }
    const { embedder, indexes, breaker } = embeddings
    if (embedder.languages && !languages.some((language) => embedder.languages?.includes(language)))
      return { reason: 'embeddings_language' }
    if (breaker.isOpen()) return { reason: 'embeddings_paused' }
    const index = await indexes.of(scope.tenant)
    if (!index) return { reason: 'embeddings_pending' }
    try {
      const vector = await embedder.embedQuery(query, timeouts.embeddingMs)
      breaker.succeeded()
      if (vector === null) return { reason: 'embeddings_language' }
      if (vector.length !== index.dims) return { reason: 'embeddings_dimensions' }
      return findNearest(index, vector, scope, embedder.minCosine)
    } catch (error) {
      breaker.failed()
      if (error instanceof EmbeddingError) return { reason: error.code }
      throw error
    }
  }
  return async (scope: SearchScope, analysis: Analysis): Promise<VectorAnswer> => {
    const found = await byEmbeddings(scope, analysis)
    return Array.isArray(found)
      ? { searchMode: 'hybrid', degraded: null, ids: found }
      : { searchMode: 'lexical', degraded: found.reason, ids: [] }
  }
}
