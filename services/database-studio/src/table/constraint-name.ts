const mostOfName = 59

/** What a constraint or an index is called that nobody has named. */
export const nameOf = (...parts: string[]): string => {
  const ending = `_${parts.at(-1)}`
  return `${parts
    .slice(0, -1)
    .join('_')
    .slice(0, mostOfName - ending.length)}${ending}`
}
