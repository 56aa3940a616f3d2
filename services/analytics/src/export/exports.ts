import {
  ApiError,
  type CommandMeta,
  type Export,
  type ExportProgress,
  type ExportState,
  type NewExport,
  newId,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import type { Delegations, RequestMeta } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { Limits } from '@opsplane/runtime'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { ExportCommand } from './domain.js'
import type { Owner } from './owner.js'
import type { PlannedExport, PlannedRows } from './plan.js'
import { exportJobs } from './tables.js'

export type ExportAggregate = Aggregate<ExportState, ExportCommand, Export>

/** Operations of users on exports. */
export interface ExportService {
  create(newExport: NewExport, meta: RequestMeta): Promise<Export>
  /** Adds the progress of each export. */
  shownAll(some: readonly Export[]): Promise<Export[]>
  get(id: string, tenant: TenantScope): Promise<Export>
  cancel(id: string, meta: RequestMeta): Promise<Export>
  remove(id: string, meta: RequestMeta): Promise<void>
}

export interface ExportServiceOptions {
  database: Pick<Database, 'db' | 'sql'>
  exports: ExportAggregate
  delegations: Delegations
  limits: Limits
  /**
   * Resolves the source to the exact rows to read. Throws `validation_failed` or `not_found` if the source is invalid
   * or does not exist.
   */
  plan(source: NewExport['source'], meta: RequestMeta): Promise<{ rows: PlannedRows; name: string }>
  /** Notifies the worker that a job is due. */
  wake(): void
}

/** Maximum duration of an export from its request on, in seconds. */
const grantSeconds = 7 * 86_400
/** After this delay the worker discards a job whose export was never committed. */
const uncommittedSeconds = 300

export function createExportService(options: ExportServiceOptions): ExportService {
  const { database, exports, delegations, limits, plan, wake } = options
  const { db } = database

  const refuseTooMany = async ({ workspaceId }: TenantScope) => {
    const max = limits.of('exports', workspaceId)
    if (max === 0) return
    const waiting = and(eq(exportJobs.workspaceId, workspaceId), eq(exportJobs.phase, 'write'))
    if ((await db.$count(exportJobs, waiting)) < max) return
    throw new ApiError(
      'quota_exceeded',
      `The workspace has reached its limit of ${max} exports in progress. Wait for one to finish, or cancel one.`,
    )
  }

  const addJob = (id: string, owner: Owner, planned: PlannedExport, { tenant, requestId }: CommandMeta) =>
    db.insert(exportJobs).values({
      ...{ id, ...tenant, phase: 'write', owner, plan: planned, requestId },
      dueAt: sql`now() + interval '1 second' * ${uncommittedSeconds}` as unknown as string,
    })

  const change = async (id: string, values: Partial<typeof exportJobs.$inferInsert>) => {
    await db.update(exportJobs).set(values).where(eq(exportJobs.id, id))
    wake()
  }
  const dueNow = sql`least(due_at, now())` as unknown as string

  const progressOf = async (ids: readonly string[]): Promise<Map<string, ExportProgress>> => {
    if (ids.length === 0) return new Map()
    const { id, rows, bytes, parts, failures } = exportJobs
    const found = await db
      .select({ id, rows, bytes, parts, attempts: failures })
      .from(exportJobs)
      .where(inArray(id, [...ids]))
    return new Map(found.map(({ id, ...progress }) => [id, progress]))
  }
  const shownAll = async (some: readonly Export[]): Promise<Export[]> => {
    const progress = await progressOf(some.map(({ id }) => id))
    return some.map((one) => ({ ...one, progress: progress.get(one.id) ?? one.progress }))
  }
  const shown = async (one: Export): Promise<Export> => {
    const [result] = await shownAll([one])
    if (!result) throw new Error('Nothing was shown of an export.')
    return result
  }

  return {
    shownAll,
    get: async (id, tenant) => shown(await exports.get(id, tenant)),

    async create({ source, name: wanted, ...choices }, meta) {
      await refuseTooMany(meta.tenant)
      const { rows, name: planned } = await plan(source, meta)
      const id = newId('export')
      const name = wanted ?? planned
      const { userId, permissions } = meta.principal
      const { grant } = await delegations.delegate(meta, { run: id, expiresInSeconds: grantSeconds })
      await addJob(id, { userId, permissions, grant }, { name, ...choices, rows }, meta)
      const fields = { name, ...choices, source, ownerId: userId }
      const created = await exports.create(id, { kind: 'create', id, fields, now: meta.now }, meta)
      await change(id, { dueAt: dueNow })
      return shown(created)
    },

    async cancel(id, meta) {
      requireOwner(await exports.get(id, meta.tenant), meta)
      const cancelled = await exports.handle(id, { kind: 'cancel', now: meta.now }, meta)
      await change(id, { cancelled: true, dueAt: dueNow })
      return shown(cancelled)
    },

    async remove(id, meta) {
      requireOwner(await exports.get(id, meta.tenant), meta)
      await exports.handle(id, { kind: 'delete' }, meta)
      await db
        .update(exportJobs)
        .set({
          cancelled: true,
          dueAt: dueNow,
          phase: sql`case phase when 'write' then 'write' else 'purge' end`,
        })
        .where(eq(exportJobs.id, id))
      wake()
    },
  }
}

/** Throws `forbidden` unless the caller owns the export or has `analytics:write`. */
function requireOwner({ ownerId }: ExportState, { principal }: RequestMeta): void {
  if (ownerId === principal.userId || principal.permissions.includes('analytics:write')) return
  throw new ApiError('forbidden', 'Only the owner, or a user with analytics:write, can change this export.')
}

/** API representation of an export without a job in progress. */
export const presentExport = (state: ExportState, version: number): Export => ({
  // Exports created by an earlier version lack these fields.
  ...{ delimiter: ',', bom: false },
  ...state,
  progress: { rows: state.file?.rows ?? 0, bytes: state.file?.bytes ?? 0, parts: 0, attempts: 0 },
  version,
})
