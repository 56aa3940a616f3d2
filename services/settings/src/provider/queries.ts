import { type Identity, IdentityProviderState, IdentityState } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { and, eq, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import { identities, identityProviders } from '../schema/provider.js'
import { memberships, workspaces } from '../schema.js'
import type { StoredProvider } from './domain.js'

/** The pool or a transaction. */
type Reader = Pick<Drizzle, 'select'>

const Stored = IdentityProviderState.extend({ sealedSecret: z.string() })

export interface ProviderOfWorkspace {
  provider: StoredProvider
  workspaceId: string
}

/** Searches all workspaces, because the caller is not logged in yet; `null` if the provider is disabled or deleted. */
export async function findEnabledProvider(db: Reader, id: string): Promise<ProviderOfWorkspace | null> {
  const [row] = await db
    .select({ state: identityProviders.state, workspaceId: identityProviders.workspaceId })
    .from(identityProviders)
    .where(and(eq(identityProviders.id, id), eq(identityProviders.enabled, 'true')))
  return row ? { provider: Stored.parse(row.state), workspaceId: row.workspaceId } : null
}

/** The enabled providers of a workspace, ordered by name. */
export async function listSignInProviders(db: Reader, slug: string): Promise<{ id: string; name: string }[]> {
  const rows = await db
    .select({ state: identityProviders.state })
    .from(identityProviders)
    .innerJoin(workspaces, eq(workspaces.id, identityProviders.workspaceId))
    .where(and(eq(workspaces.slug, slug), eq(identityProviders.enabled, 'true')))
    .orderBy(sql`${identityProviders.state}->>'name'`, identityProviders.id)
  return rows.map(({ state }) => {
    const { id, name } = Stored.parse(state)
    return { id, name }
  })
}

export async function countProviders(db: Reader, workspaceId: string): Promise<number> {
  const rows = await db
    .select({ id: identityProviders.id })
    .from(identityProviders)
    .where(eq(identityProviders.workspaceId, workspaceId))
  return rows.length
}

export interface IdentitySubject {
  providerId: string
  issuer: string
  subject: string
}

/** The identity of a subject, found by provider, issuer and subject, never by an address. */
export async function findIdentity(
  db: Reader,
  { providerId, issuer, subject }: IdentitySubject,
): Promise<IdentityState | null> {
  const [row] = await db
    .select({ state: identities.state })
    .from(identities)
    .where(
      and(
        eq(identities.providerId, providerId),
        eq(identities.issuer, issuer),
        eq(identities.subject, subject),
      ),
    )
  return row ? IdentityState.parse(row.state) : null
}

/** An identity of this user; `null` for those of others. */
export async function findOwnIdentity(
  db: Reader,
  { id, userId }: { id: string; userId: string },
): Promise<{ workspaceId: string; providerId: string } | null> {
  const [row] = await db
    .select({ workspaceId: identities.workspaceId, providerId: identities.providerId })
    .from(identities)
    .where(and(eq(identities.id, id), eq(identities.userId, userId)))
  return row ? { ...row, providerId: row.providerId ?? '' } : null
}

/** Maximum number of identities listed for one login. */
const maxIdentities = 200

/** The identities that sign a person in, oldest first; without those of deleted providers. */
export async function listIdentities(db: Reader, userId: string): Promise<Identity[]> {
  const rows = await db
    .select({ state: identities.state, version: identities.version })
    .from(identities)
    .innerJoin(identityProviders, eq(identityProviders.id, identities.providerId))
    .where(eq(identities.userId, userId))
    .orderBy(identities.id)
    .limit(maxIdentities)
  return rows.map(({ state, version }) => ({ ...IdentityState.parse(state), version }))
}

/** Whether a member of the workspace or an invited person has this address. */
export async function isAddressOfMember(db: Reader, workspaceId: string, email: string): Promise<boolean> {
  const rows = await db
    .select({ id: memberships.id })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        ne(memberships.status, 'deactivated'),
        sql`${memberships.state}->>'email' = ${email}`,
      ),
    )
    .limit(1)
  return rows.length > 0
}
