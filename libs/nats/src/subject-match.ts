/** Whether a subject matches a filter with `*` (one token) and a trailing `>` (one or more tokens). */
export function subjectMatches(filter: string, subject: string): boolean {
  const filterTokens = filter.split('.')
  const tokens = subject.split('.')
  for (const [index, want] of filterTokens.entries()) {
    if (want === '>') return tokens.length > index
    const token = tokens[index]
    if (token === undefined || (want !== '*' && want !== token)) return false
  }
  return tokens.length === filterTokens.length
}
