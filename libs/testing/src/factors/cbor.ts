/** The subset of CBOR (RFC 8949) that authenticators use: integers, bytes, texts and maps. */
export function encodeCbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([head(3, bytes.length), bytes])
  }
  if (value instanceof Map) {
    const entries = [...value].flatMap(([key, inner]) => [encodeCbor(key), encodeCbor(inner)])
    return Buffer.concat([head(5, value.size), ...entries])
  }
  throw new TypeError(`an authenticator writes no ${typeof value}`)
}

const shortest = 24
const oneByte = 0x100

/** The major type, and its argument in one, two or three bytes. */
function head(major: number, argument: number): Buffer {
  const type = major << 5
  if (argument < shortest) return Buffer.from([type | argument])
  if (argument < oneByte) return Buffer.from([type | shortest, argument])
  return Buffer.from([type | (shortest + 1), argument >> 8, argument & (oneByte - 1)])
}
