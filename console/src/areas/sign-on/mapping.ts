/** Maps a claim value to a role. Written as one `ops-admins = admin` per line. */
export interface Mapped {
  value: string
  role: string
}

export const mappingText = (roles: readonly Mapped[]): string =>
  roles.map(({ value, role }) => `${value} = ${role}`).join('\n')

/** Parses the mapping lines; `undefined` if a line is invalid. A value may contain `=`: the last one is the separator. */
export function parseMapping(lines: readonly string[]): Mapped[] | undefined {
  const entries = lines.map((line) => /^(.+?)\s*=\s*([^\s=]+)$/.exec(line))
  if (entries.includes(null)) return undefined
  return entries.map((entry) => ({ value: entry?.[1] ?? '', role: entry?.[2] ?? '' }))
}
