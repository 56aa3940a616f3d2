import type { KnowledgeResults, KnowledgeSearch } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { type Analysis, analyse } from './analysis.js'
import { computeCoverage } from './coverage.js'
import { fuse } from './fusion.js'
import { buildHits } from './hits.js'
import { exactLeg, findSimilar, textLeg } from './lexical-legs.js'
import { parseQuery } from './query-parser.js'
import { filterByScope, type SearchScope } from './scope.js'
import type { VectorAnswer, vectorLeg } from './vector-leg.js'

const withoutVectors: VectorAnswer = { searchMode: 'lexical', degraded: null, ids: [] }

/** Searches with all legs and fuses their results. */
export function knowledgeSearch(db: Drizzle, vectors: ReturnType<typeof vectorLeg>) {
  return async (
    { query, limit, mode }: KnowledgeSearch,
    searched: Omit<SearchScope, 'excluded'>,
  ): Promise<KnowledgeResults> => {
    const { wanted, excluded } = parseQuery(query)
    if (wanted === '') return { results: [], searchMode: 'lexical', degraded: null }
    const scope = { ...searched, excluded }
    const analysis = await analyse(db, scope.tenant, wanted, scope.filters.language)
    if (analysis.languages.length === 0)
      return {
        results: [],
        searchMode: 'lexical',
        degraded: mode === 'lexical' ? null : 'no_articles',
      }
    const [lexical, vector] = await Promise.all([
      lexicalLegs(db, scope, analysis),
      mode === 'lexical' ? withoutVectors : vectors(scope, analysis),
    ])
    const near = await filterByScope(db, scope, vector.ids)
    const ofWords = new Set([...lexical.text, ...lexical.trigram])
    const coverage =
      vector.searchMode === 'hybrid'
        ? await computeCoverage(db, scope.tenant, analysis, [...ofWords])
        : undefined
    const fused = fuse({ ...lexical, vector: near }, coverage).slice(0, limit)
    const results = await buildHits(db, scope, analysis, fused)
    return { results, searchMode: vector.searchMode, degraded: vector.degraded }
  }
}

async function lexicalLegs(db: Drizzle, scope: SearchScope, analysis: Analysis) {
  const { codes, words } = analysis
  const [exact, text, trigram] = await Promise.all([
    codes.length > 0 ? exactLeg(db, scope, analysis) : [],
    textLeg(db, scope, analysis),
    codes.length + words.length > 0 ? findSimilar(db, scope, analysis) : [],
  ])
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id)
  return { exact: ids(exact), text: ids(text), trigram: ids(trigram) }
}
