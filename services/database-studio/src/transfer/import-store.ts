import {
  ApiError,
  invalidTransition,
  newId,
  notFound,
  RecordImport,
  type TenantScope,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { type Database, translatePostgresError } from '@opsplane/postgres'
import { joinChunks, type Limits } from '@opsplane/runtime'
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import { recordImportParts, recordImports } from '../schema.js'
import { createImportQuota } from './import-quota.js'
import type { FileForm } from './import-rows.js'
import { requireUtf8 } from './utf8-lines.js'

/** Stored imports. */
export interface ImportStore {
  /**
   * Stores a file as it arrives and schedules its import after the upload. Throws `quota_exceeded`, and
   * `validation_failed` for a file that is empty or not UTF-8.
   */
  upload(file: NewImport, content: AsyncIterable<Buffer>, meta: RequestMeta): Promise<RecordImport>
  /** With `by`, only an import of this actor. Throws `not_found`. */
  get(id: string, table: string, tenant: TenantScope, by?: string): Promise<RecordImport>
  /**
   * Ends an import; written rows stay. With `by`, only an import of this actor. Throws `not_found`,
   * `invalid_state_transition`.
   */
  cancel(id: string, table: string, tenant: TenantScope, by?: string): Promise<RecordImport>
  content(id: string): AsyncIterable<Buffer>
  /** The stored outcome of a batch; `undefined` if the batch has not been written. */
  outcome(key: string): Promise<unknown>
}

export interface NewImport extends FileForm {
  table: string
  on: readonly string[] | undefined
}

const partBytes = 1_048_576
/** Maximum duration of an upload. */
const uploadSeconds = 3_600

export function createImportStore(
  { db, sql: client }: Pick<Database, 'db' | 'sql'>,
  limits: Limits,
): ImportStore {
  const { refuseMore, keepPart } = createImportQuota(client, limits)

  const get: ImportStore['get'] = async (id, table, { workspaceId, environment }, by) => {
    const [row] = await db
      .select()
      .from(recordImports)
      .where(
        and(
          eq(recordImports.id, id),
          eq(recordImports.tableSlug, table),
          eq(recordImports.workspaceId, workspaceId),
          eq(recordImports.environment, environment),
          ...(by === undefined ? [] : [sql`${recordImports.principal}->'actor'->>'id' = ${by}`]),
        ),
      )
    if (!row) throw notFound()
    return shown(row)
  }

  return {
    get,

    async upload({ table, format, delimiter, on }, content, { tenant, principal, requestId, now }) {
      await refuseMore(tenant.workspaceId)
      const id = newId('import')
      const dueAt = sql`now() + interval '1 second' * ${uploadSeconds}`
      await db.insert(recordImports).values({
        ...{
          id,
          ...tenant,
          tableSlug: table,
          format,
          delimiter,
          conflictColumns: on ?? null,
          principal,
          requestId,
        },
        ...{ status: 'uploading', dueAt: dueAt as unknown as string, createdAt: now },
      })
      let bytes = 0
      let part = 0
      try {
        for await (const chunk of joinChunks(requireUtf8(content), partBytes)) {
          await keepPart(tenant.workspaceId, { importId: id, part: part++, content: chunk })
          bytes += chunk.length
        }
        if (bytes === 0) throw new ApiError('validation_failed', 'The file is empty.')
      } catch (error) {
        await db.delete(recordImportParts).where(eq(recordImportParts.importId, id))
        await db.delete(recordImports).where(eq(recordImports.id, id))
        throw error
      }
      const begun = await db
        .update(recordImports)
        .set({ status: 'pending', bytes, dueAt: sql`now()` as unknown as string })
        .where(and(eq(recordImports.id, id), eq(recordImports.status, 'uploading')))
        .returning({ id: recordImports.id })
      // The import was cancelled during the upload.
      if (begun.length === 0) await db.delete(recordImportParts).where(eq(recordImportParts.importId, id))
      return get(id, table, tenant)
    },

    async cancel(id, table, tenant, by) {
      await get(id, table, tenant, by)
      const cancelledRows = await db.transaction(async (tx) => {
        const rows = await tx
          .update(recordImports)
          .set({ status: 'cancelled', finishedAt: sql`now()` as unknown as string })
          .where(and(eq(recordImports.id, id), inArray(recordImports.status, ['uploading', 'pending'])))
          .returning({ id: recordImports.id })
        if (rows.length > 0) await tx.delete(recordImportParts).where(eq(recordImportParts.importId, id))
        return rows
      })
      const present = await get(id, table, tenant)
      if (cancelledRows.length === 0) throw invalidTransition('cancel', present.status, [])
      return present
    },

    async *content(id) {
      for (let part = 0; ; part++) {
        const [row] = await db
          .select({ content: recordImportParts.content })
          .from(recordImportParts)
          .where(and(eq(recordImportParts.importId, id), eq(recordImportParts.part, part)))
          .orderBy(asc(recordImportParts.part))
        if (!row) return
        yield row.content
      }
    },

    async outcome(key) {
      try {
        const [row] = await client<{ body: unknown }[]>`select body from idempotency_keys where key = ${key}`
        return row?.body
      } catch (error) {
        throw translatePostgresError(error)
      }
    },
  }
}

/** The previous release ends imports with status `succeeded`. */
function statusOf({ status, batches }: Pick<typeof recordImports.$inferSelect, 'status' | 'batches'>) {
  if (status === 'succeeded') return 'completed'
  return status === 'pending' && batches > 0 ? 'running' : status
}

function shown(row: typeof recordImports.$inferSelect): RecordImport {
  const iso = (text: string) => new Date(text).toISOString()
  const { id, bytes, bytesDone, written, refused, error } = row
  return RecordImport.parse({
    ...{ id, bytes, bytesDone, written, refused, error, table: row.tableSlug, format: row.format },
    status: statusOf(row),
    refusedRows: row.refusedRows,
    createdAt: iso(row.createdAt),
    finishedAt: row.finishedAt === null ? null : iso(row.finishedAt),
  })
}
