import { AuditCheckpoint, type Instant, type Page } from '@opsplane/contracts'
import { type Drizzle, type DueRow, type StatementRunner, transactionWorker } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { and, desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { dueCheckpoints, auditCheckpoints as table } from '../schema.js'
import type { CheckpointSigner } from './checkpoint.js'

interface Row {
  workspaceId: string
  seq: string
  hash: string
  at: string
  signature: string
  keyId: string
}
const prepared = { prepare: true }
const toCheckpoint = (row: Row) => AuditCheckpoint.parse({ ...row, seq: Number(row.seq) })

/** Signs the end of a workspace's chain; `null` if the chain is empty. Returns the same checkpoint for the same end. */
export async function createCheckpoint(
  sql: StatementRunner,
  signer: CheckpointSigner,
  workspaceId: string,
  now: Instant,
): Promise<AuditCheckpoint | null> {
  const [head] = await sql.unsafe<Pick<Row, 'seq' | 'hash'>[]>(
    'select seq, hash from audit_heads where workspace_id = $1 and seq > 0',
    [workspaceId],
    prepared,
  )
  if (!head) return null
  const { hash } = head
  const signed = signer.sign({ workspaceId, seq: Number(head.seq), hash, at: now })
  await sql.unsafe(
    `insert into audit_checkpoints (workspace_id, seq, hash, at, signature, key_id)
     values ($1, $2::text::bigint, $3, $4, $5, $6) on conflict do nothing`,
    [workspaceId, head.seq, hash, now, signed.signature, signed.keyId],
    prepared,
  )
  const [kept] = await sql.unsafe<Row[]>(
    `select workspace_id as "workspaceId", seq, hash, at, signature, key_id as "keyId"
     from audit_checkpoints where workspace_id = $1 and seq = $2::text::bigint`,
    [workspaceId, head.seq],
    prepared,
  )
  return kept ? toCheckpoint(kept) : null
}

/** Lists checkpoints, newest first. */
export async function listCheckpoints(
  db: Drizzle,
  page: {
    workspaceId: string
    limit: number
    after: string | undefined
    binding: string
    cursors: CursorCodec
  },
): Promise<Page<AuditCheckpoint>> {
  const { workspaceId, limit, after, cursors } = page
  const binding = `${workspaceId}|${page.binding}`
  const [before] = after === undefined ? [] : z.tuple([z.int()]).parse(cursors.decode(after, binding))
  const rows = await db
    .select()
    .from(table)
    .where(and(eq(table.workspaceId, workspaceId), before === undefined ? undefined : lt(table.seq, before)))
    .orderBy(desc(table.seq))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map((row) => AuditCheckpoint.parse(row))
  const last = rows.length > limit ? items.at(-1) : undefined
  return { items, limit, nextCursor: last ? cursors.encode([last.seq], binding) : null }
}

/** Due work: signs the ends of chains that have grown. */
export const checkpointWork = (signer: CheckpointSigner) =>
  transactionWorker<DueRow>({
    name: 'audit-checkpoints',
    of: dueCheckpoints,
    batch: 200,
    async perform(tx, rows) {
      for (const { key, at } of rows) await createCheckpoint(tx, signer, key, at)
      await tx.unsafe(
        `update audit_heads set checkpoint_at = null, checkpoint_seq = seq where workspace_id = any($1::text[])`,
        [rows.map(({ key }) => key)],
        prepared,
      )
    },
  })
