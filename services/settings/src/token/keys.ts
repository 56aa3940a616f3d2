import {
  ApiError,
  type CommandMeta,
  type Instant,
  invalidField,
  type NewToken,
  newId,
  notFound,
  type Principal,
  systemActor,
  type Token,
  type TokenCreated,
  type TokenRotation,
} from '@opsplane/contracts'
import type { Aggregate, EventStore, Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { requireAuthority } from '../rights/authority.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { issueToken } from './bearer-token.js'
import { type ApiKey, type TokenCommand, token, validityEnd } from './domain.js'
import { type Issuer, isWithin } from './grant.js'

type KeyAggregate = Aggregate<ApiKey, TokenCommand, Token>

export interface KeyOptions {
  /** How long a rotated key stays valid together with its successor, in milliseconds. */
  tokenOverlapMs: number
}

export type Keys = ReturnType<typeof createKeys>

/** Issues, rotates and revokes API keys. A key's plaintext is only in the response that creates it. */
export function createKeys({ store }: Pick<ServiceContext, 'store'>, { tokenOverlapMs }: KeyOptions) {
  const keys: KeyAggregate = store.aggregate(token, { present })
  const environmentsOf = async (meta: RequestMeta) => (await findIssuer(keys, meta)).environments

  return {
    present: keys.present,

    /** Creates a key for the caller's workspace, within the caller's rights. */
    async create({ name, scopes, environments, expiresAt }: NewToken, meta: RequestMeta) {
      const { id, plaintext, ...material } = newKey(meta.now)
      const issuer = await findIssuer(keys, meta)
      const grant = {
        scopes: [...new Set(scopes)],
        environments: environments === undefined ? null : [...new Set(environments)],
        expiresAt: expiresAt ?? null,
      }
      const command = { id, ...material, name, userId: meta.principal.userId, grant, issuer }
      return store.transact(atHome(meta), async (unit): Promise<TokenCreated> => {
        const created = await unit.create(keys, id, { kind: 'create', ...command })
        return { ...created, token: plaintext }
      })
    },

    /** Creates the successor and sets the end of the old key, in one transaction. */
    async rotate({ id: wanted }: TokenRotation, meta: RequestMeta) {
      const id = wanted ?? ownKeyId(meta.principal)
      if (id !== meta.principal.tokenId) requireManagement(meta.principal)
      const { id: successorId, plaintext, ...material } = newKey(meta.now)
      const issuer = await findIssuer(keys, meta)
      const validUntil = new Date(Date.parse(meta.now) + tokenOverlapMs).toISOString()
      return store.transact(atHome(meta), async (unit): Promise<TokenCreated> => {
        const predecessor = await ownKey(unit, keys, id, { ...meta.principal, ...issuer })
        await unit.handle(keys, id, { kind: 'rotate', successorId, issuer, validUntil, now: meta.now })
        const command = { id: successorId, ...material, predecessor, issuedBy: issuer.tokenId }
        const created = await unit.create(keys, successorId, { kind: 'succeed', ...command })
        return { ...created, token: plaintext }
      })
    },

    /** Idempotent. */
    async revoke(id: string, meta: RequestMeta) {
      const reach = { ...meta.principal, environments: await environmentsOf(meta) }
      return store.transact(atHome(meta), async (unit) => {
        await ownKey(unit, keys, id, reach)
        return unit.handle(keys, id, { kind: 'revoke', reason: 'requested', now: meta.now })
      })
    },

    /** Revokes a key of any member, if it allows no more than the caller may do. Idempotent. */
    async revokeAny(id: string, meta: RequestMeta) {
      const environments = await environmentsOf(meta)
      return store.transact(atHome(meta), async (unit) => {
        const found = await unit.find(keys, id)
        if (found === null || !isWithin(found.state.environments, environments)) throw notFound()
        requireAuthority(meta.principal.permissions, found.state.scopes)
        return unit.handle(keys, id, { kind: 'revoke', reason: 'revoked_by_admin', now: meta.now })
      })
    },

    environmentsOf,

    revokeReused: (reused: ApiKey, workspaceId: string, meta: Pick<CommandMeta, 'now' | 'requestId'>) =>
      revokeReused(store, keys, reused, { ...meta, actor: systemActor, tenant: workspaceScope(workspaceId) }),
  }
}

/** Revokes a key that was used after its overlap, and all its successors: one of them must have leaked. */
function revokeReused(store: EventStore, keys: KeyAggregate, reused: ApiKey, meta: CommandMeta) {
  return store.transact(
    meta,
    async (unit) => {
      await unit.handle(keys, reused.id, { kind: 'detect_reuse', now: meta.now })
      for (let next = reused.successorId; next !== null; ) {
        await unit.handle(keys, next, { kind: 'revoke', reason: 'reuse_detected', now: meta.now })
        next = (await unit.find(keys, next))?.state.successorId ?? null
      }
    },
    { queueKey: reused.id },
  )
}

/** `lastUsedAt` is not part of the log; a new key has none. */
function present(state: ApiKey, version: number): Token {
  return { ...token.expose(state), lastUsedAt: null, version }
}

function newKey(now: Instant) {
  const id = newId('token')
  return { id, now, ...issueToken('key', id) }
}

function atHome(meta: RequestMeta): RequestMeta {
  return { ...meta, tenant: workspaceScope(meta.tenant.workspaceId) }
}

/** The user whose keys may be changed, and the environments these may be valid in; `null`: any. */
type EnvironmentHolder = Pick<Principal, 'userId'> & Pick<Issuer, 'environments'>

/** The limits for new keys: a key's own grant, or the permissions of a session's user. */
async function findIssuer(keys: KeyAggregate, { principal, tenant }: RequestMeta): Promise<Issuer> {
  const { tokenId, permissions } = principal
  if (!tokenId.startsWith('tok_')) return { tokenId, permissions, environments: null, expiresAt: null }
  const own = await keys.find(tokenId, workspaceScope(tenant.workspaceId))
  if (!own) throw notFound()
  return { tokenId, permissions, environments: own.state.environments, expiresAt: validityEnd(own.state) }
}

/**
 * Throws `not_found` also for another user's key, and for a key valid in environments that the caller's own key is
 * not.
 */
async function ownKey(
  unit: Unit,
  keys: KeyAggregate,
  id: string,
  holder: EnvironmentHolder,
): Promise<ApiKey> {
  const found = await unit.find(keys, id)
  if (found === null || found.state.userId !== holder.userId) throw notFound()
  if (!isWithin(found.state.environments, holder.environments)) throw notFound()
  return found.state
}

function ownKeyId({ tokenId }: Principal): string {
  if (tokenId.startsWith('tok_')) return tokenId
  throw invalidField('/id', 'required', 'A session is not rotated; name the key to rotate.')
}

function requireManagement({ permissions }: Principal): void {
  if (permissions.includes('tokens:manage')) return
  throw new ApiError('insufficient_scope', 'Rotating another key needs the permission tokens:manage.')
}
