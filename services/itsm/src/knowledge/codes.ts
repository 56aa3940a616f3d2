const most = 200

/**
 * What looks like an identifier: a number of a record, an error code, a host name with digits. Lower case,
 * without repetition. Plain numbers and words are no codes, as too many texts have them.
 */
export function codesIn(text: string): string[] {
  const codes = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_.:-]{2,79}/gu)) {
    const code = word.replace(/[.:_-]+$/, '')
    if (isCode(code)) codes.add(code.toLowerCase())
    if (codes.size >= most) break
  }
  return [...codes]
}

function isCode(word: string): boolean {
  const letters = /\p{L}/u.test(word)
  return (letters && /\d/.test(word)) || /^[A-Z]+_[A-Z_]+$/.test(word)
}
