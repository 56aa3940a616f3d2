import { readModelTable, stateText } from '@opsplane/postgres'
import { sql } from 'drizzle-orm'
import { index, integer, uniqueIndex } from 'drizzle-orm/pg-core'

export const artifacts = readModelTable(
  'artifacts',
  {
    slug: stateText('slug', 'slug'),
    name: stateText('name', 'name'),
    kind: stateText('kind', 'kind'),
    status: stateText('status', 'status'),
    packId: stateText('pack_id', 'packId'),
    ownerId: stateText('owner_id', 'ownerId'),
    updatedAt: stateText('updated_at', 'updatedAt'),
  },
  (table) => {
    const { workspaceId, environment, createdAt, id } = table
    return [
      index('artifacts_created_idx').on(workspaceId, environment, createdAt, id),
      index('artifacts_pack_idx').on(table.packId),
      uniqueIndex('artifacts_slug_key').on(workspaceId, environment, table.slug),
      index('artifacts_rules_idx')
        .on(workspaceId, environment)
        .where(sql`kind = 'business_rule' and status = 'active'`),
    ]
  },
)

/** Code and its metadata: an installed version is immutable and too large for an event. */
export const artifactVersions = readModelTable(
  'artifact_versions',
  {
    artifactId: stateText('artifact_id', 'artifactId'),
    number: integer('number').generatedAlwaysAs(sql.raw(`(state->>'number')::integer`)),
    digest: stateText('digest', 'digest'),
  },
  (table) => [
    index('artifact_versions_artifact_idx').on(
      table.workspaceId,
      table.environment,
      table.artifactId,
      table.number,
      table.id,
    ),
  ],
)
