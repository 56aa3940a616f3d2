const maxCodes = 200

/**
 * Returns all strings that look like an identifier: a record number such as `INC-7`, an error code, a host name with
 * digits. They are in lower case and without duplicates. Words without a separator need at least four digits, so that
 * `ipv4` is not one: too many texts contain such words.
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
