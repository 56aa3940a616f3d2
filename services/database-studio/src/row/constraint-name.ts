import { sha256Hex } from '@opsplane/runtime'

const maxBytes = 59
const hashLength = 8

/**
 * The default name of a constraint or index, built from its table and columns. If it is too long, the end is replaced
 * by a hash of the whole name.
 */
export function buildConstraintName(...parts: string[]): string {
  const whole = parts.join('_')
  if (Buffer.byteLength(whole) <= maxBytes) return whole
  const hashedSuffix = `_${sha256Hex(whole).slice(0, hashLength)}_${parts.at(-1)}`
  return `${cut(whole, maxBytes - Buffer.byteLength(hashedSuffix))}${hashedSuffix}`
}

/** The longest prefix of whole characters that fits in this many bytes of UTF-8. */
function cut(text: string, bytes: number): string {
  const characters = [...text]
  while (Buffer.byteLength(characters.join('')) > bytes) characters.pop()
  return characters.join('')
}
