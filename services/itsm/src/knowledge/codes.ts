const maxCodes = 200

/**
 * What looks like an identifier: a number of a record such as `INC-7`, an error code, a host name with digits. In
 * lower case, without repetition. Words with a digit or two, such as `ipv4`, are none: too many texts have them.
 */
export function findCodes(text: string): string[] {
  const codes = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}][\p{L}\p{N}_.:-]{2,79}/gu)) {
    const code = word.replace(/[.:_-]+$/, '')
    if (isCode(code)) codes.add(code.toLowerCase())
    if (codes.size >= maxCodes) break
  }
  return [...codes]
}

function isCode(word: string): boolean {
  const digits = word.match(/\d/g)?.length ?? 0
  const lettered = /\p{L}/u.test(word)
  return /\p{L}_\p{L}/u.test(word) || (lettered && (digits >= 4 || (digits > 0 && /[-_:]/.test(word))))
}
