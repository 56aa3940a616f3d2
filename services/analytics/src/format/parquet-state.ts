/** Wraps values that JSON cannot represent, under a key that no row group metadata uses. */
function wrap(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // `value` of a `Date` is already a string here, because `toJSON` was applied.
  const original = this[key]
  if (typeof original === 'bigint') return { $bigint: String(original) }
  if (original instanceof Date) return { $date: original.getTime() }
  if (original instanceof Uint8Array) return { $bytes: Buffer.from(original).toString('base64') }
  return value
}

function unwrap(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('$bigint' in value) return BigInt(String(value.$bigint))
  if ('$date' in value) return new Date(Number(value.$date))
  if ('$bytes' in value) return new Uint8Array(Buffer.from(String(value.$bytes), 'base64'))
  return value
}

/** Serializes the row group metadata, which is written at the end of a file. */
export const packGroups = (groups: unknown): string => JSON.stringify(groups, wrap)

export const unpackGroups = (text: string): unknown => JSON.parse(text, unwrap)
