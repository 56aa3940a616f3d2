const plainInstant = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,3})?\+00$/

/**
 * Converts an instant in Postgres format to ISO 8601 with milliseconds. `to_char` would take as long for one instant as
 * for the rest of the row.
 */
export function toIsoInstant(text: string): string {
  const found = plainInstant.exec(text)
  if (!found) return new Date(text).toISOString()
  return `${found[1]}T${found[2]}${(found[3] ?? '.').padEnd(4, '0')}Z`
}
