import { endsInSpacelessCharacter, spacelessPairs } from '@opsplane/postgres'

/**
 * Markers that the database puts around matches. They are
 * private-use characters, which are removed from texts beforehand.
 */
export const matchStart = '\uE000'
export const matchEnd = '\uE001'

/**
 * Adds markers around matches in scripts without spaces between words. To the database a run of such characters is one
 * word, but a query may match a part of it. Matches are found by pairs of characters, as in the index.
 */
export function markSpaceless(markedText: string, query: string): string {
  const pairs = new Set(spacelessPairs(query).split(/\s+/).filter(isPair))
  if (pairs.size === 0) return markedText
  const characters = [...markedText]
  const found = characters.map((character, at) => pairs.has(character + (characters[at + 1] ?? '')))
  let within = false
  let isMarked = false
  let text = ''
  for (const [at, character] of characters.entries()) {
    if (character === matchStart || character === matchEnd) isMarked = character === matchStart
    const isFound = !isMarked && (found[at] === true || found[at - 1] === true)
    if (isFound !== within) text += isFound ? matchStart : matchEnd
    within = isFound
    text += character
  }
  return within ? `${text}${matchEnd}` : text
}

/** Whether a word of `spacelessPairs` is a pair of characters rather than a word of another script. */
const isPair = (word: string) =>
  [...word].length === 2 && [...word].every((character) => endsInSpacelessCharacter(character))

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns HTML whose only markup is `<mark>` around matches, whatever the article contains. */
export function toHtml(markedText: string): string {
  return markedText
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(matchStart, '<mark>')
    .replaceAll(matchEnd, '</mark>')
}

export function toPlain(markedText: string): string {
  return markedText.replaceAll(matchStart, '').replaceAll(matchEnd, '').replaceAll(/\s+/g, ' ').trim()
}
