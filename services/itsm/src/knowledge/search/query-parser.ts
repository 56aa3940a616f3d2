import { spacelessPairs } from '@opsplane/postgres'

/** What a query asks for, and what it does not want. */
export interface ParsedQuery {
  /** Words and quoted phrases. */
  wanted: string
  /** Words and phrases that stood behind a minus. */
  excluded: string[]
}

/** A phrase as it is; or a minus that no word and no other minus goes before, with the phrase or word behind it. */
const pieces = /"[^"]*"?|(?<![\p{L}\p{N}_-])-(?:"([^"]+)"?|([\p{L}\p{N}][^\s",;()]*))/gu
/** Such as those of `--force`, which is an option of a command. */
const otherMinuses = /(?<![\p{L}\p{N}_])-+/gu

/** Every one is held against each article that matches; more of them are left out. */
const maxExcluded = 12

/** Takes exclusions out of a query, so that what is not wanted is not looked for. */
export function parseQuery(query: string): ParsedQuery {
  const excluded: string[] = []
  const wanted = query.replaceAll(pieces, (piece: string, phrase?: string, word?: string) => {
    const text = phrase ?? word
    if (text === undefined) return piece
    if (excluded.length < maxExcluded) excluded.push(spacelessPairs(text).trim())
    return ' '
  })
  return { wanted: spacelessPairs(wanted.replaceAll(otherMinuses, ' ')).trim(), excluded }
}
