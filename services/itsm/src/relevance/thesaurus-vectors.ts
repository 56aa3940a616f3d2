import { loadThesaurus } from './relevance-set.js'

/**
 * Vectors without a model, for a local endpoint to serve: one dimension per group of words of like meaning, so
 * that texts about the same things lie close whatever words they use. Written by hand, and far below a trained
 * model: it shows that the way through an endpoint works and what meaning adds, not how good a model would be.
 */
export function thesaurusVectors(): (text: string) => number[] {
  const groups = loadThesaurus()
  const dims = new Map<string, number[]>()
  for (const [dim, words] of groups.entries())
    for (const word of words) dims.set(stem(word), [...(dims.get(stem(word)) ?? []), dim])
  return (text) => {
    const counts = new Array<number>(groups.length + 1).fill(0)
    for (const [word] of text.toLowerCase().matchAll(/[a-z0-9-]+/g))
      for (const dim of dims.get(stem(word)) ?? []) counts[dim] = (counts[dim] ?? 0) + 1
    const weights = counts.map((count) => Math.log1p(count))
    // A text without any known word still has a length, as models never answer with zeros.
    if (Math.max(...weights) === 0) weights[groups.length] = 1
    return weights
  }
}

const stem = (word: string): string => word.replace(/(?<=\w{3})(?:ing|ed|es|s)$/, '')
