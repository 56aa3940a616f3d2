/** Whether a subject matches a filter with `*` (one token) and a trailing `>` (one or more tokens). */
export function subjectMatches(filter: string, subject: string): boolean {
  const wanted = filter.split('.')
  const tokens = subject.split('.')
  for (const [index, want] of wanted.entries()) {
    if (want === '>') return tokens.length > index
    const token = tokens[index]
    if (token === undefined || (want !== '*' && want !== token)) return false
  }
  return tokens.length === wanted.length
}

/** One filter that lets everything through that any of these does: what they begin with alike, and anything after it. */
export function coveringFilter(filters: readonly string[]): string | undefined {
  const [first = [], ...others] = filters.map((filter) => filter.split('.'))
  const shortest = Math.min(...[first, ...others].map((tokens) => tokens.length))
  const differing = first.findIndex((token, at) => others.some((tokens) => tokens[at] !== token))
  if (differing === -1 && others.every((tokens) => tokens.length === first.length)) return filters[0]
  const alike = first.slice(0, Math.min(differing === -1 ? first.length : differing, shortest - 1))
  return alike.length === 0 ? undefined : [...alike, '>'].join('.')
}
