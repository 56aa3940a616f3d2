import type { ArtifactUse, TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'

/** Maximum number of uses returned. */
const maxUses = 200

/** Workflows whose published version has steps that run some of these artifacts, whether or not they are active. */
export async function artifactUses(
  { sql }: Pick<Database, 'sql'>,
  { workspaceId, environment }: TenantScope,
  slugs: readonly string[],
): Promise<ArtifactUse[]> {
  const rows = await sql.unsafe<ArtifactUse[]>(
    `select distinct found.slug #>> '{}' as artifact, 'workflow' as kind, w.id, w.name
     from workflows w
     join workflow_versions v on v.id = w.id || '.' || (w.state->>'publishedVersion')
     cross join lateral jsonb_path_query(
       v.state::jsonb->'definition', 'strict $.** ? (@.type == "artifact").artifact') as found(slug)
     where w.workspace_id = $1 and w.environment = $2 and w.status <> 'archived'
       and found.slug #>> '{}' = any($3::text[])
     order by w.id, artifact limit ${maxUses}`,
    [workspaceId, environment, [...slugs]],
    { prepare: true },
  )
  return [...rows]
}
