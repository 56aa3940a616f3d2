/** Which value of a claim gives which role, as people write it: `ops-admins = admin` on each line. */
export interface Mapped {
  value: string
  role: string
}

export const mappingText = (roles: readonly Mapped[]): string =>
  roles.map(({ value, role }) => `${value} = ${role}`).join('\n')

/** The entries of a text; undefined where a line is none. A value may have an `=` itself: the last one counts. */
export function parseMapping(lines: readonly string[]): Mapped[] | undefined {
  const entries = lines.map((line) => /^(.+?)\s*=\s*([^\s=]+)$/.exec(line))
  if (entries.includes(null)) return undefined
  return entries.map((entry) => ({ value: entry?.[1] ?? '', role: entry?.[2] ?? '' }))
}
