/** Letters that Unicode does not take apart into one of ASCII and its marks. */
const single = { from: 'øłđıħ', to: 'oldih' }
const pairs = [
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
] as const

/** A text as SQL without its accents and in lower case, by which `muller` is a part of `Müller`. */
export function foldedSql(text: string): string {
  const plain = `regexp_replace(normalize(${text}, NFKD), '[\\u0300-\\u036f]', '', 'g')`
  const lower = `translate(lower(${plain}), '${single.from}', '${single.to}')`
  return pairs.reduce((sql, [from, to]) => `replace(${sql}, '${from}', '${to}')`, lower)
}
