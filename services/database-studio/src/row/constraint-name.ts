import { sha256Hex } from '@opsplane/runtime'

const maxBytes = 59
const hashLength = 8

/**
 * The default name of a constraint or an index: after its table and columns. Where that is too long, what is cut
 * is replaced by a hash of all of it.
 */
export function buildConstraintName(...parts: string[]): string {
  const whole = parts.join('_')
  if (Buffer.byteLength(whole) <= maxBytes) return whole
  const ending = `_${sha256Hex(whole).slice(0, hashLength)}_${parts.at(-1)}`
  return `${cut(whole, maxBytes - Buffer.byteLength(ending))}${ending}`
}

/** As many whole characters as so many bytes of UTF-8 have. */
function cut(text: string, bytes: number): string {
  const characters = [...text]
  while (Buffer.byteLength(characters.join('')) > bytes) characters.pop()
  return characters.join('')
}
