import { ArtifactPermissions } from '@opsplane/contracts'

const lists = ['api', 'http', 'connectors', 'secrets', 'secretsPlain', 'topics'] as const

/** The union of several permissions, sorted. */
export function mergePermissions(all: readonly ArtifactPermissions[]): ArtifactPermissions {
  const union = ArtifactPermissions.parse({})
  for (const list of lists) union[list] = [...new Set(all.flatMap((each) => each[list]))].sort()
  const slugs = [...new Set(all.flatMap(({ tables }) => Object.keys(tables)))].sort()
  union.tables = Object.fromEntries(
    slugs.map((slug) => [slug, [...new Set(all.flatMap(({ tables }) => tables[slug] ?? []))].sort()]),
  )
  return union
}

/** Permissions that are requested but not granted; `undefined` if there are none. */
export function findMissingPermissions(
  requested: ArtifactPermissions,
  granted: ArtifactPermissions,
): Partial<ArtifactPermissions> | undefined {
  const missing: Partial<ArtifactPermissions> = {}
  for (const list of lists) {
    const missed = requested[list].filter((each) => !granted[list].includes(each))
    if (missed.length > 0) missing[list] = missed
  }
  const tables = Object.entries(requested.tables).flatMap(([slug, access]) => {
    const missed = access.filter((each) => !granted.tables[slug]?.includes(each))
    return missed.length > 0 ? [[slug, missed] as const] : []
  })
  if (tables.length > 0) missing.tables = Object.fromEntries(tables)
  return Object.keys(missing).length > 0 ? missing : undefined
}
