import {
  ApiError,
  type Download,
  type ExportFile,
  type ExportLink,
  type ExportState,
  newId,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, desc, eq, isNull, lt, sql } from 'drizzle-orm'
import { exportLinks } from './tables.js'
import type { LinkTokens } from './token.js'

/** The file a download URL refers to. */
export interface LinkedFile {
  exportId: string
  file: ExportFile
}

export interface Links {
  /** Creates a download URL. `seconds` is limited to the remaining retention of the file. */
  create(
    state: ExportState,
    request: { tenant: TenantScope; userId: string; seconds: number; now: string },
  ): Promise<Download>
  list(
    exportId: string,
    tenant: TenantScope,
    page: { limit: number; before: string | undefined },
  ): Promise<ExportLink[]>
  /** Revokes a URL permanently. Throws `not_found`. */
  revoke(id: string, exportId: string, tenant: TenantScope): Promise<void>
  revokeAll(exportId: string, tenant: TenantScope): Promise<void>
  /** Revokes all URLs a user has created in a workspace, when that user loses the right to have them. */
  revokeByUser(workspaceId: string, userId: string): Promise<void>
  /**
   * Returns the file a URL currently refers to. A forged, expired or revoked URL and a deleted file all give the same
   * `not_found`, so that an attacker learns nothing.
   */
  resolve(token: string, now: string): Promise<LinkedFile>
}

export interface LinksOptions {
  db: Drizzle
  tokens: LinkTokens
  find(exportId: string, tenant: TenantScope): Promise<ExportState | undefined>
  /** `undefined`: URLs are paths relative to the origin. */
  origin: string | undefined
}

const invalidLink = () => new ApiError('not_found', 'This link is not valid, or not any more.')

export function createLinks({ db, tokens, find, origin = '' }: LinksOptions): Links {
  const ofExport = (exportId: string, { workspaceId, environment }: TenantScope) =>
    and(
      eq(exportLinks.exportId, exportId),
      eq(exportLinks.workspaceId, workspaceId),
      eq(exportLinks.environment, environment),
    )
  const revokedNow = { revokedAt: sql`now()` as unknown as string }

  return {
    async create(state, { tenant, userId, seconds, now }) {
      const { file, expiresAt } = state
      if (state.status !== 'completed' || !file || !expiresAt)
        throw new ApiError('conflict', `The export is ${state.status}: it has no file.`)
      const until = Math.floor(Math.min(Date.parse(now) + seconds * 1_000, Date.parse(expiresAt)) / 1_000)
      const link = { id: newId('exportLink'), expiresAt: new Date(until * 1_000).toISOString() }
      await db
        .insert(exportLinks)
        .values({ ...link, exportId: state.id, ...tenant, createdBy: userId, createdAt: now })
      const token = tokens.sign({ linkId: link.id, expires: until })
      return {
        ...{ linkId: link.id, url: `${origin}/downloads/${token}`, expiresAt: link.expiresAt },
        ...{ fileName: file.name, contentType: file.contentType, bytes: file.bytes, sha256: file.sha256 },
      }
    },

    async list(exportId, tenant, { limit, before }) {
      const rows = await db
        .select()
        .from(exportLinks)
        .where(and(ofExport(exportId, tenant), before === undefined ? undefined : lt(exportLinks.id, before)))
        .orderBy(desc(exportLinks.id))
        .limit(limit)
      return rows.map(toExportLink)
    },

    async revoke(id, exportId, tenant) {
      const revoked = await db
        .update(exportLinks)
        .set({ revokedAt: sql`coalesce(revoked_at, now())` as unknown as string })
        .where(and(eq(exportLinks.id, id), ofExport(exportId, tenant)))
        .returning({ id: exportLinks.id })
      if (revoked.length === 0) throw notFound()
    },

    async revokeAll(exportId, tenant) {
      await db
        .update(exportLinks)
        .set(revokedNow)
        .where(and(ofExport(exportId, tenant), isNull(exportLinks.revokedAt)))
    },

    async revokeByUser(workspaceId, userId) {
      await db
        .update(exportLinks)
        .set(revokedNow)
        .where(
          and(
            eq(exportLinks.workspaceId, workspaceId),
            eq(exportLinks.createdBy, userId),
            isNull(exportLinks.revokedAt),
          ),
        )
    },

    async resolve(token, now) {
      const claims = tokens.read(token)
      if (!claims || claims.expires * 1_000 <= Date.parse(now)) throw invalidLink()
      const [link] = await db
        .update(exportLinks)
        .set({ downloads: sql`downloads + 1`, lastUsedAt: now })
        .where(and(eq(exportLinks.id, claims.linkId), isNull(exportLinks.revokedAt)))
        .returning()
      if (!link) throw invalidLink()
      const tenant = {
        workspaceId: link.workspaceId,
        environment: link.environment as TenantScope['environment'],
      }
      const state = await find(link.exportId, tenant)
      if (state?.status !== 'completed' || !state.file) throw invalidLink()
      return { exportId: state.id, file: state.file }
    },
  }
}

const iso = (at: string) => new Date(at).toISOString()

const toExportLink = (link: typeof exportLinks.$inferSelect): ExportLink => ({
  ...{ id: link.id, exportId: link.exportId, createdBy: link.createdBy, downloads: link.downloads },
  ...{ createdAt: iso(link.createdAt), expiresAt: iso(link.expiresAt) },
  revokedAt: link.revokedAt && iso(link.revokedAt),
  lastUsedAt: link.lastUsedAt && iso(link.lastUsedAt),
})
