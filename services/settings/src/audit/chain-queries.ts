import { AuditCheckpoint, type AuditVerification } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, asc, between, desc, eq, max } from 'drizzle-orm'
import { auditCheckpoints, auditHeads, auditLog } from '../schema.js'

/** A consistent snapshot of the stored state of a chain. */
export interface ChainState {
  head: AuditVerification['head']
  /** The newest stored checkpoint. */
  checkpoint: AuditCheckpoint | null
  /** Position of the newest event; 0 if there is none. */
  lastSeq: number
}

export function readChainState(db: Drizzle, workspaceId: string): Promise<ChainState> {
  return db.transaction(
    async (tx) => {
      const [head] = await tx.select().from(auditHeads).where(eq(auditHeads.workspaceId, workspaceId))
      const [checkpoint] = await tx
        .select()
        .from(auditCheckpoints)
        .where(eq(auditCheckpoints.workspaceId, workspaceId))
        .orderBy(desc(auditCheckpoints.seq))
        .limit(1)
      const [row] = await tx
        .select({ lastSeq: max(auditLog.seq) })
        .from(auditLog)
        .where(eq(auditLog.workspaceId, workspaceId))
      return {
        head: head && head.seq > 0 ? { seq: head.seq, hash: head.hash, at: head.at } : null,
        checkpoint: checkpoint ? AuditCheckpoint.parse(checkpoint) : null,
        lastSeq: row?.lastSeq ?? 0,
      }
    },
    // One snapshot for the three queries, because the chain keeps growing.
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

export type ChainRow = typeof auditLog.$inferSelect

/** Rows in the order of `seq`. A `seq` can have several rows only if the unique index was removed. */
export function readChainRows(
  db: Drizzle,
  workspaceId: string,
  from: number,
  to: number,
): Promise<ChainRow[]> {
  return db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.workspaceId, workspaceId), between(auditLog.seq, from, to)))
    .orderBy(asc(auditLog.seq))
    .limit(2 * (to - from + 1))
}

export async function readCheckpoints(
  db: Drizzle,
  workspaceId: string,
  from: number,
  to: number,
): Promise<AuditCheckpoint[]> {
  const rows = await db
    .select()
    .from(auditCheckpoints)
    .where(and(eq(auditCheckpoints.workspaceId, workspaceId), between(auditCheckpoints.seq, from, to)))
  return rows.map((row) => AuditCheckpoint.parse(row))
}
