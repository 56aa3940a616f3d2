import type { Instant, PlatformEvent } from '@opsplane/contracts'
import type { DrizzleTransaction } from '@opsplane/postgres'
import { asc, inArray, sql } from 'drizzle-orm'
import { auditHeads, auditLog } from '../schema.js'
import { type ChainEnd, emptyChain, nextLink } from './chain.js'

/**
 * Puts events at the ends of their workspaces' chains, each once however often it comes. Whoever makes a chain longer
 * holds its head until the commit; heads are taken in one order, so that two replicas cannot wait for each other.
 */
export async function appendToChains(
  tx: DrizzleTransaction,
  events: PlatformEvent[],
  now: Instant,
): Promise<void> {
  const heads = await lockHeads(tx, workspacesOf(events), now)
  const known = await knownIds(tx, events)
  const rows: (typeof auditLog.$inferInsert)[] = []
  for (const event of events) {
    if (known.has(event.id)) continue
    known.add(event.id)
    const { id, workspaceId, environment, version } = event
    const end = nextLink(heads.get(workspaceId) ?? emptyChain, event)
    heads.set(workspaceId, end)
    rows.push({ id, workspaceId, environment, version, state: { ...event }, ...end })
  }
  if (rows.length === 0) return
  await tx.insert(auditLog).values(rows)
  const grown = new Set(rows.map(({ workspaceId }) => workspaceId))
  const ends = [...heads].filter(([workspaceId]) => grown.has(workspaceId))
  await tx
    .insert(auditHeads)
    .values(ends.map(([workspaceId, end]) => ({ workspaceId, ...end, at: now })))
    .onConflictDoUpdate({
      target: auditHeads.workspaceId,
      set: { seq: sql`excluded.seq`, hash: sql`excluded.hash`, at: sql`excluded.at` },
    })
}

const workspacesOf = (events: PlatformEvent[]) =>
  [...new Set(events.map(({ workspaceId }) => workspaceId))].sort()

async function lockHeads(
  tx: DrizzleTransaction,
  workspaces: string[],
  now: Instant,
): Promise<Map<string, ChainEnd>> {
  // A new chain's head is made first: there is nothing to lock where there is no row.
  const beginnings = workspaces.map((workspaceId) => ({ workspaceId, ...emptyChain, at: now }))
  await tx.insert(auditHeads).values(beginnings).onConflictDoNothing()
  const heads = await tx
    .select()
    .from(auditHeads)
    .where(inArray(auditHeads.workspaceId, workspaces))
    .orderBy(asc(auditHeads.workspaceId))
    .for('update')
  return new Map(heads.map(({ workspaceId, seq, hash }) => [workspaceId, { seq, hash }]))
}

/** Read after the heads are locked: what another replica has added is committed by then, and seen. */
async function knownIds(tx: DrizzleTransaction, events: PlatformEvent[]): Promise<Set<string>> {
  const ids = events.map(({ id }) => id)
  const rows = await tx.select({ id: auditLog.id }).from(auditLog).where(inArray(auditLog.id, ids))
  return new Set(rows.map(({ id }) => id))
}
