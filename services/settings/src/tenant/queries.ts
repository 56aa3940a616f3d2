import { type Page, type Principal, WorkspaceAccess } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import { and, desc, eq, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { memberships, sessions, tokens, workspaces } from '../schema.js'

export interface AccessPage {
  /** The user whose memberships count. */
  userId: string
  /** The session or key of the request. A key sees only its own workspace, as does a session restricted to one. */
  tokenId: string
  limit: number
  after?: string | undefined
  binding: string
  cursors: CursorCodec
}

const Position = z.tuple([z.string(), z.string()])

/** The workspaces a login or key can enter, newest first. Throws `invalid_cursor`. */
export async function accessibleWorkspaces(db: Drizzle, page: AccessPage): Promise<Page<WorkspaceAccess>> {
  const { userId, tokenId, limit, after, cursors } = page
  const binding = `${userId}|${tokenId}|${page.binding}`
  const rows = await accessRows(db, [
    eq(memberships.userId, userId),
    tokenId.startsWith('tok_')
      ? sql`${workspaces.id} = (select workspace_id from ${tokens} where ${tokens.id} = ${tokenId})`
      : sql`${workspaces.id} = coalesce((select workspace_id from ${sessions} where ${sessions.id} = ${tokenId}), ${workspaces.id})`,
    after === undefined ? undefined : afterPosition(cursors.decode(after, binding)),
  ])
    .orderBy(desc(workspaces.createdAt), desc(workspaces.id))
    .limit(limit + 1)
  const items = rows.slice(0, limit).map(toAccess)
  const last = rows.length > limit ? items.at(-1) : undefined
  return { items, nextCursor: last ? cursors.encode([last.createdAt, last.id], binding) : null, limit }
}

/** The workspace of the request, with the caller's role; `null` if there is none. */
export async function currentWorkspace(db: Drizzle, principal: Principal): Promise<WorkspaceAccess | null> {
  const { workspaceId, userId } = principal
  if (workspaceId === undefined) return null
  const [row] = await accessRows(db, [eq(workspaces.id, workspaceId), eq(memberships.userId, userId)])
  return row ? toAccess(row) : null
}

export async function workspaceIdBySlug(db: Drizzle, slug: string): Promise<string | null> {
  const [row] = await db.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.slug, slug))
  return row?.id ?? null
}

export const countOwnedWorkspaces = (db: Drizzle, userId: string): Promise<number> =>
  db.$count(
    memberships,
    and(eq(memberships.userId, userId), eq(memberships.role, 'owner'), eq(memberships.status, 'active')),
  )

/** The name of a workspace; empty for an unknown one. */
export async function workspaceName(db: Drizzle, id: string): Promise<string> {
  const [row] = await db
    .select({ name: sql<string>`${workspaces.state}->>'name'` })
    .from(workspaces)
    .where(eq(workspaces.id, id))
  return row?.name ?? ''
}

function accessRows(db: Drizzle, conditions: (SQL | undefined)[]) {
  return db
    .select({ state: workspaces.state, version: workspaces.version, role: memberships.role })
    .from(workspaces)
    .innerJoin(memberships, eq(memberships.workspaceId, workspaces.id))
    .where(and(eq(memberships.status, 'active'), ...conditions))
}

function toAccess({ state, version, role }: Awaited<ReturnType<typeof accessRows>>[number]): WorkspaceAccess {
  return WorkspaceAccess.parse({ ...state, version, role })
}

function afterPosition(position: unknown[]): SQL {
  const [createdAt, id] = Position.parse(position)
  return sql`(${workspaces.createdAt}, ${workspaces.id}) < (${createdAt}, ${id})`
}
