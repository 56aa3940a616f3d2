import type { LexemeCounts } from './corpus-model.js'

/** The most frequent are kept: one endless article must not be all a corpus is about. */
const most = 500

/** How often each lexeme stands in a tsvector, from its text form such as `'mail':1A,7C 'o''clock':3C`. */
export function lexemeCounts(tsvector: string): LexemeCounts {
  const counts: [string, number][] = []
  for (const [, lexeme = '', positions = ''] of tsvector.matchAll(/'((?:[^'\\]|''|\\.)*)'(?::([\dA-D,]+))?/g))
    counts.push([lexeme.replaceAll("''", "'").replaceAll('\\\\', '\\'), positions.split(',').length])
  if (counts.length > most) counts.sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).splice(most)
  return new Map(counts)
}
