import {
  type Environment,
  type Instant,
  maxDependents,
  noSignInPolicy,
  type Permission,
  type SignInMethod,
  SignInPolicy,
  type TenantScope,
  TokenState,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, inArray, ne, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Operators } from '../operator/operators.js'
import {
  customPermissions,
  memberEmail,
  resolvePermissions,
  roleOfMembership,
} from '../rights/permissions.js'
import { lacksProvider } from '../rights/required-provider.js'
import { accounts, memberships, roles, sessions, tokens, tokenUsage, workspaces } from '../schema.js'
import type { ApiKey } from './domain.js'

const StoredKey = TokenState.extend({ secretHash: z.string() })

/** The key as events contain it. */
export async function findToken(db: Pick<Drizzle, 'select'>, id: string): Promise<TokenState | null> {
  const [row] = await db.select({ state: tokens.state }).from(tokens).where(eq(tokens.id, id))
  return row ? TokenState.parse(row.state) : null
}

/**
 * All data needed to verify a presented key, read by primary keys: the key, its workspace and its owner's rights
 * there.
 */
export interface KeyRecord {
  key: ApiKey
  lastUsedAt: Instant | null
  workspaceId: string
  workspaceSlug: string
  /** Role of the owner. */
  role: string | null
  email: string | null
  /** Permissions of the owner's role; `null` if the owner is not an active member. */
  allowed: Permission[] | null
}

export async function keyRecord(db: Drizzle, id: string): Promise<KeyRecord | null> {
  return (await keyRecords(db, [id])).get(id) ?? null
}

/** Records by id; unknown ids are absent. */
export async function keyRecords(db: Drizzle, ids: readonly string[]): Promise<Map<string, KeyRecord>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({
      state: tokens.state,
      lastUsedAt: tokenUsage.lastUsedAt,
      workspaceId: workspaces.id,
      workspaceSlug: workspaces.slug,
      role: memberships.role,
      email: memberEmail,
      customPermissions,
    })
    .from(tokens)
    .innerJoin(workspaces, eq(workspaces.id, tokens.workspaceId))
    .leftJoin(memberships, activeMembership(tokens.userId))
    .leftJoin(roles, roleOfMembership())
    .leftJoin(tokenUsage, eq(tokenUsage.tokenId, tokens.id))
    .where(inArray(tokens.id, [...ids]))
  return new Map(
    rows.map((row) => {
      const { lastUsedAt, workspaceId, workspaceSlug, role, email } = row
      const key = StoredKey.parse(row.state)
      const allowed = allowedBy(row)
      const record = {
        key,
        lastUsedAt,
        workspaceId,
        workspaceSlug: workspaceSlug ?? '',
        role,
        email,
        allowed,
      }
      return [key.id, record]
    }),
  )
}

/** All data needed to verify a presented session, read by unique keys. */
export interface SessionRecord {
  secretHash: string
  lastSeenAt: Instant
  expiresAt: Instant
  /** For a browser session. */
  provedAt: Instant | null
  methods: readonly SignInMethod[]
  /** The only workspace the session may enter. */
  onlyWorkspaceId: string | null
  /** Whether the requested workspace requires an identity provider, and the session is not of a required one. */
  lacksProvider: boolean
  /** The sign-in policy of the workspace. */
  signIn: SignInPolicy
  userId: string
  userName: string
  /** The requested workspace; `null` if no workspace has the slug. */
  workspaceId: string | null
  role: string | null
  email: string | null
  /** Permissions of the user's role; `null` if the user is not an active member of the workspace. */
  allowed: Permission[] | null
  isOperator: boolean
}

export interface SessionQuery {
  id: string
  /** `undefined` for a request without a workspace. */
  workspaceSlug: string | undefined
}

export async function sessionRecord(
  db: Drizzle,
  query: SessionQuery,
  operators: Operators,
): Promise<SessionRecord | null> {
  const [record = null] = await sessionRecords(db, [query], operators)
  return record
}

/** Records in the order of the queries; `null` for an unknown session. */
export async function sessionRecords(
  db: Drizzle,
  queries: readonly SessionQuery[],
  operators: Operators,
): Promise<(SessionRecord | null)[]> {
  if (queries.length === 0) return []
  const ids = queries.map(({ id }) => id)
  // No workspace has an empty slug.
  const slugs = queries.map(({ workspaceSlug = '' }) => workspaceSlug)
  const table = sql`unnest(${sql.param(ids)}::text[], ${sql.param(slugs)}::text[]) with ordinality as asked (id, slug, place)`
  const rows = await db
    .select({
      place: sql<string>`asked.place`,
      secretHash: sessions.secretHash,
      lastSeenAt: sessions.lastSeenAt,
      expiresAt: sessions.expiresAt,
      provedAt: sessions.provedAt,
      methods: sessions.methods,
      onlyWorkspaceId: sessions.workspaceId,
      lacksProvider: lacksProvider(),
      signIn: sql<unknown>`${workspaces.state}->'signIn'`,
      userId: accounts.id,
      userName: accounts.name,
      workspaceId: workspaces.id,
      role: memberships.role,
      email: memberEmail,
      customPermissions,
      isOperator: operators.isJoined(),
    })
    .from(sessions)
    .innerJoin(table, sql`${sessions.id} = asked.id`)
    .innerJoin(accounts, eq(accounts.id, sessions.accountId))
    .leftJoin(workspaces, sql`${workspaces.slug} = asked.slug`)
    .leftJoin(memberships, activeMembership(sessions.accountId))
    .leftJoin(roles, roleOfMembership())
  const records: (SessionRecord | null)[] = queries.map(() => null)
  for (const row of rows) {
    const { customPermissions: _, place, ...found } = row
    const signIn = row.signIn === null ? noSignInPolicy : SignInPolicy.parse(row.signIn)
    records[Number(place) - 1] = { ...found, userName: row.userName ?? '', allowed: allowedBy(row), signIn }
  }
  return records
}

/** `null` without an active membership. */
function allowedBy(row: { role: string | null; customPermissions: unknown }): Permission[] | null {
  return row.role === null ? null : resolvePermissions(row.role, row.customPermissions)
}

function activeMembership(userId: typeof tokens.userId | typeof sessions.accountId) {
  return and(
    eq(memberships.userId, userId),
    eq(memberships.workspaceId, workspaces.id),
    eq(memberships.status, 'active'),
  )
}

/** Ids of the user's keys in the workspace that are not revoked. */
export async function listUnrevokedKeys(
  db: Pick<Drizzle, 'select'>,
  { workspaceId, environment }: TenantScope,
  userId: string,
): Promise<string[]> {
  const rows = await db
    .select({ id: tokens.id })
    .from(tokens)
    .where(
      and(
        eq(tokens.workspaceId, workspaceId),
        eq(tokens.environment, environment),
        eq(tokens.userId, userId),
        ne(tokens.status, 'revoked'),
      ),
    )
  return rows.map(({ id }) => id)
}

/** The keys of a member that are not revoked, ordered by id. */
export async function listMemberKeys(
  db: Pick<Drizzle, 'select'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<TokenState[]> {
  const rows = await db
    .select({ state: tokens.state })
    .from(tokens)
    .where(and(eq(tokens.workspaceId, workspaceId), eq(tokens.userId, userId), ne(tokens.status, 'revoked')))
    .orderBy(tokens.id)
    .limit(maxDependents)
  return rows.map(({ state }) => TokenState.parse(state))
}

/** The keys of this person in all workspaces that are not revoked. */
export function listKeysOfPerson(db: Pick<Drizzle, 'select'>, userId: string) {
  return db
    .select({ id: tokens.id, workspaceId: tokens.workspaceId })
    .from(tokens)
    .where(and(eq(tokens.userId, userId), ne(tokens.status, 'revoked')))
    .orderBy(tokens.id)
}

/** Matches keys that are valid in these environments only; `null`: any key. */
export function withinEnvironments(environments: readonly Environment[] | null): SQL | undefined {
  if (environments === null) return undefined
  return sql`(${tokens.state}->'environments')::jsonb <@ ${JSON.stringify(environments)}::text::jsonb`
}

/** When each of the keys was last used; unused keys are absent. */
export async function findLastUses(db: Drizzle, ids: string[]): Promise<Map<string, Instant>> {
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
export function isValidInEnvironment(
  { environments }: Pick<TokenState, 'environments'>,
  environment: Environment,
): boolean {
  return environments === null || environments.includes(environment)
}
