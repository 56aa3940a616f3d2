import {
  ArtifactPermissions,
  Integrity,
  notFound,
  PackFiles,
  PackManifest,
  packSources,
  type ReadModelRow,
  type TenantScope,
} from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'

/** A stored installation: its content and the grant its artifacts use. */
export const StoredInstallation = z.object({
  packId: z.string(),
  packVersion: z.string(),
  manifest: PackManifest,
  files: PackFiles,
  integrity: Integrity,
  /** Digest of manifest and files, independent of the source. */
  content: Integrity,
  source: z.enum(packSources),
  granted: ArtifactPermissions,
  grant: z.string(),
  installedAt: z.string(),
  installedBy: z.string(),
})
export type StoredInstallation = z.infer<typeof StoredInstallation>

export const installationRef = (packId: string, number: number) => `${packId}.${number}`

export const installationRow = (id: string, installation: StoredInstallation): ReadModelRow => ({
  table: 'pack_installations',
  id,
  state: { ...installation },
})

/** Throws `not_found` if it does not exist or belongs to another tenant. */
export async function loadInstallation(
  { sql }: Pick<Database, 'sql'>,
  ref: string,
  { workspaceId, environment }: TenantScope,
): Promise<StoredInstallation> {
  const [row] = await sql.unsafe<{ state: unknown }[]>(
    `select state from pack_installations where id = $1 and workspace_id = $2 and environment = $3`,
    [ref, workspaceId, environment],
  )
  if (!row) throw notFound()
  return StoredInstallation.parse(row.state)
}

/** The content with which a version of a pack was first installed; it never changes. */
export async function findVersionContents(
  { sql }: Pick<Database, 'sql'>,
  packId: string,
  packVersion: string,
): Promise<string | undefined> {
  const [row] = await sql.unsafe<{ content: string }[]>(
    `select state->>'content' as content from pack_installations where pack_id = $1 and pack_version = $2 limit 1`,
    [packId, packVersion],
  )
  return row?.content
}

/** The last installation of a version. */
export async function findLatestInstallation(
  { sql }: Pick<Database, 'sql'>,
  packId: string,
  packVersion: string,
): Promise<string | undefined> {
  const [row] = await sql.unsafe<{ id: string }[]>(
    `select id from pack_installations where pack_id = $1 and pack_version = $2
     order by state->>'installedAt' desc, id desc limit 1`,
    [packId, packVersion],
  )
  return row?.id
}
