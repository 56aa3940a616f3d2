import { spacelessPairs } from '@opsplane/postgres'

/** The wanted and the excluded parts of a query. */
export interface ParsedQuery {
  /** Words and quoted phrases. */
  wanted: string
  /** Words and phrases preceded by a minus. */
  excluded: string[]
}

/**
 * Matches a quoted phrase, or a minus that follows neither a word nor another minus, with the phrase or word
 * after it.
 */
const pieces = /"[^"]*"?|(?<![\p{L}\p{N}_-])-(?:"([^"]+)"?|([\p{L}\p{N}][^\s",;()]*))/gu
/** Matches other minuses, such as those of the command option `--force`. */
const otherMinuses = /(?<![\p{L}\p{N}_])-+/gu

/** Each exclusion is checked against every matching article, so further ones are ignored. */
const maxExcluded = 12

/** Separates exclusions from a query, so that excluded words are not searched for. */
export function parseQuery(query: string): ParsedQuery {
  const excluded: string[] = []
  const includedText = query.replaceAll(pieces, (piece: string, phrase?: string, word?: string) => {
    const text = phrase ?? word
    if (text === undefined) return piece
    if (excluded.length < maxExcluded) excluded.push(spacelessPairs(text).trim())
    return ' '
  })
  return { wanted: spacelessPairs(includedText.replaceAll(otherMinuses, ' ')).trim(), excluded }
}
