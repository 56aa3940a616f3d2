/** What JSON has no form for, by a key that no description of a row group has. */
function wrap(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // Dates are texts by the time they come here.
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

/** Descriptions of row groups, which end a file, as text. */
export const packGroups = (groups: unknown): string => JSON.stringify(groups, wrap)

export const unpackGroups = (text: string): unknown => JSON.parse(text, unwrap)
