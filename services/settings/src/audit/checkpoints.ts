import { AuditCheckpoint, type Instant, type Page } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { type CursorCodec, delay, type Logger } from '@opsplane/runtime'
import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { auditHeads, auditCheckpoints as table } from '../schema.js'
import type { CheckpointSigner } from './checkpoint.js'

/** The signed end of a workspace's chain; null while it has no event. Asked again at the same end, the same one. */
export async function takeCheckpoint(
  db: Drizzle,
  signer: CheckpointSigner,
  workspaceId: string,
  now: Instant,
): Promise<AuditCheckpoint | null> {
  const [head] = await db.select().from(auditHeads).where(eq(auditHeads.workspaceId, workspaceId))
  if (!head || head.seq === 0) return null
  const { seq, hash } = head
  const signed = signer.sign({ workspaceId, seq, hash, at: now })
  await db.insert(table).values(signed).onConflictDoNothing()
  const [kept] = await db
    .select()
    .from(table)
    .where(and(eq(table.workspaceId, workspaceId), eq(table.seq, seq)))
  return AuditCheckpoint.parse(kept)
}

/** The newest first. */
export async function checkpointPage(
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

export interface CheckpointPolicy {
  /** A chain that has grown by so many events gets a checkpoint. */
  everyEvents: number
  /** So does one that has grown at all, after this time. */
  everyMs: number
}

const policy: CheckpointPolicy = { everyEvents: 1_000, everyMs: 3_600_000 }
const lookEveryMs = 30_000
const atOnce = 200

/** Takes the checkpoints that are due, at most 200; returns how many. Replicas may do so at once. */
export async function takeDueCheckpoints(
  db: Drizzle,
  signer: CheckpointSigner,
  now: Instant,
  { everyEvents, everyMs } = policy,
): Promise<number> {
  const longAgo = new Date(Date.parse(now) - everyMs).toISOString()
  const newest = db
    .select({ seq: table.seq, at: table.at })
    .from(table)
    .where(eq(table.workspaceId, auditHeads.workspaceId))
    .orderBy(desc(table.seq))
    .limit(1)
    .as('newest')
  const due = await db
    .select({ workspaceId: auditHeads.workspaceId })
    .from(auditHeads)
    .leftJoinLateral(newest, sql`true`)
    .where(
      sql`${auditHeads.seq} > coalesce(${newest.seq}, 0) and (${newest.seq} is null
        or ${auditHeads.seq} >= ${newest.seq} + ${everyEvents}::int or ${newest.at} <= ${longAgo})`,
    )
    .limit(atOnce)
  for (const { workspaceId } of due) await takeCheckpoint(db, signer, workspaceId, now)
  return due.length
}

/** Takes checkpoints of all chains as they become due. */
export function startCheckpoints(options: {
  db: Drizzle
  signer: CheckpointSigner
  log: Logger
  now(): Instant
}): { close(): Promise<void> } {
  const { db, signer, log, now } = options
  const closing = new AbortController()
  let failing = false

  const round = async (): Promise<number> => {
    try {
      const taken = await takeDueCheckpoints(db, signer, now())
      failing = false
      return taken
    } catch (error) {
      if (!failing) log.warn({ err: error }, 'checkpoints of the audit log cannot be taken')
      failing = true
      return 0
    }
  }
  const run = async () => {
    while (!closing.signal.aborted) {
      if ((await round()) < atOnce) await delay(lookEveryMs, closing.signal)
    }
  }
  const running = run()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}
