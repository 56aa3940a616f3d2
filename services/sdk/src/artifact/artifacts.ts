import {
  type Artifact,
  type ArtifactDetail,
  type ArtifactVersion,
  type ArtifactVersionDetail,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import { type Database, keysetPage } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { sql as fragment } from 'drizzle-orm'
import type { ArtifactCommand, ArtifactRecord } from './domain.js'
import { artifactVersions as table } from './tables.js'
import { StoredVersion, versionRef } from './versions.js'

export type ArtifactAggregate = Aggregate<ArtifactRecord, ArtifactCommand, Artifact>

interface PageOf {
  limit: number
  after: string | undefined
  binding: string
}

export interface Artifacts {
  aggregate: ArtifactAggregate
  /** Finds an artifact by id or slug. Throws `not_found`, also if it was removed. */
  record(idOrSlug: string, tenant: TenantScope): Promise<{ state: ArtifactRecord; version: number }>
  get(idOrSlug: string, tenant: TenantScope): Promise<ArtifactDetail>
  /** Throws `not_found` if there is no version with this number. */
  version(idOrSlug: string, number: number, tenant: TenantScope): Promise<ArtifactVersionDetail>
  stored(id: string, number: number, tenant: TenantScope): Promise<StoredVersion>
  listVersions(
    idOrSlug: string,
    tenant: TenantScope,
    page: PageOf,
  ): ReturnType<typeof keysetPage<ArtifactVersion>>
}

export function createArtifacts(
  aggregate: ArtifactAggregate,
  { sql, db }: Database,
  cursors: CursorCodec,
): Artifacts {
  const record: Artifacts['record'] = async (idOrSlug, tenant) => {
    const [row] = await sql.unsafe<{ id: string }[]>(
      `select id from artifacts
       where workspace_id = $1 and environment = $2 and (id = $3 or slug = $3) and status <> 'removed'`,
      [tenant.workspaceId, tenant.environment, idOrSlug],
      { prepare: true },
    )
    const found = row && (await aggregate.find(row.id, tenant))
    if (!found) throw notFound()
    return found
  }
  const stored: Artifacts['stored'] = async (id, number, { workspaceId, environment }) => {
    const [row] = await sql.unsafe<{ state: unknown }[]>(
      'select state from artifact_versions where id = $1 and workspace_id = $2 and environment = $3',
      [versionRef(id, number), workspaceId, environment],
    )
    if (!row) throw notFound()
    return StoredVersion.parse(row.state)
  }

  return {
    aggregate,
    record,
    stored,
    async get(idOrSlug, tenant) {
      const { state, version } = await record(idOrSlug, tenant)
      const shown = aggregate.present({ state: { ...state }, version })
      return { ...shown, ...sourcesOf(await stored(state.id, state.artifactVersion, tenant)) }
    },
    async version(idOrSlug, number, tenant) {
      const { state } = await record(idOrSlug, tenant)
      const found = await stored(state.id, number, tenant)
      const { kind, permissions, limits } = found
      return { ...shownVersion(found, state), kind, permissions, limits, ...sourcesOf(found) }
    },
    async listVersions(idOrSlug, tenant, { limit, after, binding }) {
      const { state: artifact } = await record(idOrSlug, tenant)
      return keysetPage(db, {
        table,
        tenant,
        where: [fragment`${table.artifactId} = ${artifact.id}`],
        sort: { column: table.number, direction: 'desc' },
        ...{ limit, after, binding, cursors },
        present: ({ state }) => shownVersion(StoredVersion.parse(state), artifact),
      })
    },
  }
}

function shownVersion(
  { artifactId, number, packVersion, digest, createdAt, createdBy }: StoredVersion,
  { artifactVersion }: ArtifactRecord,
): ArtifactVersion {
  return {
    artifactId,
    number,
    packVersion,
    digest,
    createdAt,
    createdBy,
    current: number === artifactVersion,
  }
}

const sourcesOf = ({ inputSchema, outputSchema, fileName, source, tests }: StoredVersion) => ({
  ...{ inputSchema, outputSchema, fileName, source },
  tests: tests.map(({ name }) => name),
})
