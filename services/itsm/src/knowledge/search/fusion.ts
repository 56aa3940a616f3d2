export const legs = ['exact', 'text', 'trigram', 'vector'] as const
export type Leg = (typeof legs)[number]

/** Article ids per leg, the best first. */
export type RankedLegs = Record<Leg, readonly string[]> & {
  /** How many of the text leg, from its first, count in full; all of them where it is left out. */
  complete?: number
}

export interface Fused {
  id: string
  score: number
  ranks: Record<Leg, number | null>
}

/** The constant of reciprocal rank fusion: the larger, the less the very first places stand out. */
const smoothing = 60

/**
 * An identifier somebody typed is what they mean, so one such place outweighs all others together. Similar
 * spelling is the weakest sign: short words look like each other.
 */
const weights: Record<Leg, number> = { exact: 10, text: 1, trigram: 0.3, vector: 1 }
/** Where a model tells what is meant, some of the words count for less: often it is those that say least. */
const someWords = 0.3

/** Reciprocal rank fusion: Σ weight / (60 + rank). Equal scores are ordered by id. */
export function fuse(ranked: RankedLegs): Fused[] {
  const found = new Map<string, Fused>()
  for (const leg of legs) {
    for (const [index, id] of ranked[leg].entries()) {
      const entry = found.get(id) ?? {
        id,
        score: 0,
        ranks: { exact: null, text: null, trigram: null, vector: null },
      }
      entry.ranks[leg] = index + 1
      const share = leg === 'text' && index >= (ranked.complete ?? index + 1) ? someWords : 1
      entry.score += (share * weights[leg]) / (smoothing + index + 1)
      found.set(id, entry)
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
}
