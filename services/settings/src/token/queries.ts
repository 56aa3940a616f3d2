import { type Environment, type Instant, TokenState } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { accounts, memberships, sessions, tokens, tokenUsage, workspaces } from '../schema.js'
import type { ApiKey } from './domain.js'

const StoredKey = TokenState.extend({ secretHash: z.string() })

/** The key as events carry it. */
export async function tokenById(db: Drizzle, id: string): Promise<TokenState | null> {
  const [row] = await db.select({ state: tokens.state }).from(tokens).where(eq(tokens.id, id))
  return row ? TokenState.parse(row.state) : null
}

/** All that decides about a presented key, by primary keys: the key, its workspace and its owner's role there. */
export interface KeyRecord {
  key: ApiKey
  lastUsedAt: Instant | null
  workspaceId: string
  workspaceSlug: string
  /** Null when the owner is no active member. */
  role: string | null
}

export async function keyRecord(db: Drizzle, id: string): Promise<KeyRecord | null> {
  const [row] = await db
    .select({
      state: tokens.state,
      lastUsedAt: tokenUsage.lastUsedAt,
      workspaceId: workspaces.id,
      workspaceSlug: workspaces.slug,
      role: memberships.role,
    })
    .from(tokens)
    .innerJoin(workspaces, eq(workspaces.id, tokens.workspaceId))
    .leftJoin(memberships, activeMembership(tokens.userId))
    .leftJoin(tokenUsage, eq(tokenUsage.tokenId, tokens.id))
    .where(eq(tokens.id, id))
  if (!row) return null
  const { state, workspaceSlug, ...found } = row
  return { ...found, key: StoredKey.parse(state), workspaceSlug: workspaceSlug ?? '' }
}

/** All that decides about a presented session, by unique keys. */
export interface SessionRecord {
  secretHash: string
  lastSeenAt: Instant
  expiresAt: Instant
  userId: string
  userName: string
  /** Of the workspace asked for; null when there is none of that slug. */
  workspaceId: string | null
  /** Null when the user is no active member of that workspace. */
  role: string | null
}

export async function sessionRecord(
  db: Drizzle,
  id: string,
  workspaceSlug: string | undefined,
): Promise<SessionRecord | null> {
  const [row] = await db
    .select({
      secretHash: sessions.secretHash,
      lastSeenAt: sessions.lastSeenAt,
      expiresAt: sessions.expiresAt,
      userId: accounts.id,
      userName: accounts.name,
      workspaceId: workspaces.id,
      role: memberships.role,
    })
    .from(sessions)
    .innerJoin(accounts, eq(accounts.id, sessions.accountId))
    // No workspace has an empty slug.
    .leftJoin(workspaces, eq(workspaces.slug, workspaceSlug ?? ''))
    .leftJoin(memberships, activeMembership(sessions.accountId))
    .where(eq(sessions.id, id))
  return row ? { ...row, userName: row.userName ?? '' } : null
}

function activeMembership(userId: typeof tokens.userId | typeof sessions.accountId) {
  return and(
    eq(memberships.userId, userId),
    eq(memberships.workspaceId, workspaces.id),
    eq(memberships.status, 'active'),
  )
}

/** When each of the keys was last used; keys never used are absent. */
export async function lastUses(db: Drizzle, ids: string[]): Promise<Map<string, Instant>> {
  if (ids.length === 0) return new Map()
  const rows = await db.select().from(tokenUsage).where(inArray(tokenUsage.tokenId, ids))
  return new Map(rows.map((row) => [row.tokenId, row.lastUsedAt]))
}

export async function recordUse(db: Drizzle, tokenId: string, now: Instant): Promise<void> {
  await db
    .insert(tokenUsage)
    .values({ tokenId, lastUsedAt: now })
    .onConflictDoUpdate({ target: tokenUsage.tokenId, set: { lastUsedAt: now } })
}

/** Whether a key is valid in an environment. */
export function opens({ environments }: Pick<TokenState, 'environments'>, environment: Environment): boolean {
  return environments === null || environments.includes(environment)
}
