import type { TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'

/** An artifact of this environment with one of the requested slugs. */
const ExistingArtifact = z.object({
  id: z.string(),
  slug: z.string(),
  status: z.enum(['active', 'suspended', 'removed']),
  packName: z.string(),
  digest: z.string(),
  latestVersion: z.int(),
})
export type OccupiedSlug = z.infer<typeof ExistingArtifact>

const Known = z.object({ artifactId: z.string(), digest: z.string(), number: z.int(), code: z.string() })
/** An existing version, whether in use or not. */
export type KnownVersion = z.infer<typeof Known>

/** Returns the artifacts with these slugs, by slug. */
export async function findOccupiedSlugs(
  { sql }: Pick<Database, 'sql'>,
  { workspaceId, environment }: TenantScope,
  slugs: readonly string[],
): Promise<Map<string, OccupiedSlug>> {
  const rows = await sql.unsafe(
    `select id, slug, status, state->>'packName' as "packName", state->>'digest' as digest,
            (state->>'latestVersion')::int as "latestVersion"
     from artifacts where workspace_id = $1 and environment = $2 and slug = any($3::text[])`,
    [workspaceId, environment, [...slugs]],
  )
  return new Map(rows.map((row) => ExistingArtifact.parse(row)).map((row) => [row.slug, row]))
}

/** Versions of these artifacts with one of the digests. */
export async function findKnownVersions(
  { sql }: Pick<Database, 'sql'>,
  artifactIds: readonly string[],
  digests: readonly string[],
): Promise<KnownVersion[]> {
  const rows = await sql.unsafe(
    `select artifact_id as "artifactId", digest, number, state->>'code' as code from artifact_versions
     where artifact_id = any($1::text[]) and digest = any($2::text[])`,
    [[...artifactIds], [...digests]],
  )
  return rows.map((row) => Known.parse(row))
}

/** The id of the pack with a name, installed or not. */
export async function findPackId(
  { sql }: Pick<Database, 'sql'>,
  { workspaceId, environment }: TenantScope,
  name: string,
): Promise<string | undefined> {
  const [row] = await sql.unsafe<{ id: string }[]>(
    'select id from packs where workspace_id = $1 and environment = $2 and name = $3',
    [workspaceId, environment, name],
  )
  return row?.id
}

/** The installed versions, by pack name. */
export async function findInstalledVersions(
  { sql }: Pick<Database, 'sql'>,
  { workspaceId, environment }: TenantScope,
): Promise<Map<string, string>> {
  const rows = await sql.unsafe<{ name: string; version: string }[]>(
    `select name, state->>'packVersion' as version from packs
     where workspace_id = $1 and environment = $2 and status <> 'uninstalled'`,
    [workspaceId, environment],
  )
  return new Map(rows.map(({ name, version }) => [name, version]))
}
