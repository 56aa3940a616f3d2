import {
  type AuditEvent,
  type AuditExport,
  type AuditExportEnd,
  type AuditFilters,
  type CommandMeta,
  type Decider,
  newId,
  type TenantScope,
} from '@opsplane/contracts'
import type { EventStore } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, between, eq } from 'drizzle-orm'
import type { z } from 'zod'
import { auditHeads, auditLog as table } from '../schema.js'
import { buildAuditConditions, toAuditEvent } from './queries.js'

/** The record of an export. It never changes, so each export is a separate aggregate. */
export const auditExport: Decider<AuditExport, { kind: 'export'; taken: AuditExport }> = {
  resourceType: 'audit',
  table: 'audit_exports',
  decide: ({ taken }) => [{ type: 'audit.exported', after: taken }],
  expose: (state) => state,
  describe: () => ({ displayName: 'Audit log' }),
}

/** Records the export in the log before any part of it is sent. Returns the position at which the export ends. */
export function recordExport(db: Drizzle, store: EventStore) {
  const exports = store.aggregate(auditExport)
  return async (filters: AuditFilters, meta: CommandMeta): Promise<AuditExport> => {
    const { workspaceId } = meta.tenant
    const [head] = await db.select().from(auditHeads).where(eq(auditHeads.workspaceId, workspaceId))
    const id = newId('auditExport')
    const activeFilters = Object.entries(filters).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    )
    const lastSeq = head?.seq ?? 0
    const exportRecord = { id, filters: Object.fromEntries(activeFilters), lastSeq, createdAt: meta.now }
    await exports.create(id, { kind: 'export', taken: exportRecord }, meta)
    return exportRecord
  }
}

export type ExportLine = AuditEvent | z.infer<typeof AuditExportEnd>

/**
 * Positions of the chain read per statement. Bounds the work of a statement and of the event loop, however few events
 * match.
 */
const windowSize = 100

/**
 * The events of a tenant up to a position of the chain, in order, followed by a last line that marks the export as
 * complete. Reads in short statements, so that a slow client occupies neither a connection nor a database snapshot.
 */
export async function* readExportBatches(
  db: Drizzle,
  { workspaceId, environment }: TenantScope,
  filters: AuditFilters,
  lastSeq: number,
): AsyncGenerator<ExportLine[]> {
  const condition = and(
    eq(table.workspaceId, workspaceId),
    eq(table.environment, environment),
    ...buildAuditConditions(filters),
  )
  let count = 0
  for (let from = 1; from <= lastSeq; from += windowSize) {
    const to = Math.min(from + windowSize - 1, lastSeq)
    const rows = await db
      .select({ state: table.state, seq: table.seq, hash: table.hash })
      .from(table)
      .where(and(condition, between(table.seq, from, to)))
      .orderBy(asc(table.seq))
    count += rows.length
    if (rows.length > 0) yield rows.map(toAuditEvent)
  }
  yield [{ complete: true, count }]
}
