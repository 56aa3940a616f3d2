import { patternMatches } from './event.js'
import { eventCatalog } from './event-catalog.js'

const types = Object.keys(eventCatalog)

/** Suggestions for mistyped patterns: everything below a prefix of some type. */
const families = [
  ...new Set(
    types.flatMap((type) => {
      const parts = type.split('.').slice(0, -1)
      return parts.map((_, at) => `${parts.slice(0, at + 1).join('.')}.*`)
    }),
  ),
]

/** Whether a subscription entry matches any declared type of event. */
export const matchesSomeEvent = (pattern: string): boolean =>
  types.some((type) => patternMatches(pattern, type))

/** A subscription entry that matches no declared type. */
interface UnknownEventPattern {
  /** Index in the list of entries. */
  index: number
  pattern: string
  /** The most similar valid entry. */
  nearest: string
  message: string
}

/** Entries that match no declared type and would never receive an event. */
export const unknownEventPatterns = (
  patterns: readonly string[],
  matches = matchesSomeEvent,
): UnknownEventPattern[] =>
  patterns.flatMap((pattern, index) => {
    if (matches(pattern)) return []
    const nearest = nearestEventPattern(pattern)
    const message = `matches no event there is; did you mean ${nearest}? GET /events/catalog lists all`
    return [{ index, pattern, nearest, message }]
  })

/** The declared type, or for a pattern the family, with the most similar spelling. */
function nearestEventPattern(pattern: string): string {
  const candidates = pattern.endsWith('.*') ? families : types
  const [nearest = '*'] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(pattern, candidate) }))
    .sort((left, right) => left.distance - right.distance)
    .map(({ candidate }) => candidate)
  return nearest
}

/** Levenshtein distance: the number of characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
