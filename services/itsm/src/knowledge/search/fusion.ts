export const legs = ['exact', 'text', 'trigram', 'vector'] as const
export type Leg = (typeof legs)[number]

/** Article ids per search leg, the best first. */
export type RankedLegs = Record<Leg, readonly string[]>

export interface Fused {
  id: string
  score: number
  ranks: Record<Leg, number | null>
}

/**
 * Weights of the legs, and the smoothing constant of the fusion: the larger it is, the less the first ranks
 * stand out.
 */
interface Weights extends Record<Leg, number> {
  smoothing: number
}

/**
 * A typed identifier is exactly what the user searches for, so one such rank outweighs all others together. In a search
 * by words alone, similar spelling is the weakest sign, because short words resemble each other. All weights were
 * measured on the relevance set.
 */
const byWords: Weights = { smoothing: 60, exact: 10, text: 1, trigram: 0.3, vector: 0 }
const byMeaning: Weights = { smoothing: 20, exact: 10, text: 1, trigram: 2, vector: 1 }

/** From this share of the query's words, an article gets the full weight in the word legs. */
const fullCoverage = 0.6
/**
 * Next to vectors, an article with only a few of the words counts
 * for little, because these are often insignificant words.
 */
const wordsShare = (coverage: number): number => Math.min(1, coverage / fullCoverage) ** 4

/**
 * Reciprocal rank fusion: Σ weight / (smoothing + rank). `coverage` is each article's share of the query's words, given
 * if a model was used as well. Equal scores are ordered by id.
 */
export function fuse(ranked: RankedLegs, coverage?: ReadonlyMap<string, number>): Fused[] {
  const weights = coverage ? byMeaning : byWords
  const found = new Map<string, Fused>()
  for (const leg of legs) {
    for (const [index, id] of ranked[leg].entries()) {
      const entry = found.get(id) ?? {
        id,
        score: 0,
        ranks: { exact: null, text: null, trigram: null, vector: null },
      }
      entry.ranks[leg] = index + 1
      const isOfWords = leg === 'text' || leg === 'trigram'
      const share = coverage && isOfWords ? wordsShare(coverage.get(id) ?? 0) : 1
      entry.score += (share * weights[leg]) / (weights.smoothing + index + 1)
      found.set(id, entry)
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}
