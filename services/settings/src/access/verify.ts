import {
  ApiError,
  type CommandMeta,
  type ConfirmedTokens,
  type Environment,
  type Instant,
  type Permission,
  type Principal,
  type TokenVerification,
  type VerifiedToken,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { constantTimeEqual } from '@opsplane/runtime'
import type { Operators } from '../operator/operators.js'
import { provesFactor } from '../session/methods.js'
import type { Sessions } from '../session/sessions.js'
import { type PresentedToken, readToken } from '../token/bearer-token.js'
import { earlierInstant, hasExpired, overlapIsOver, validityEnd } from '../token/domain.js'
import type { Keys } from '../token/keys.js'
import {
  isValidInEnvironment,
  type KeyRecord,
  keyRecord,
  keyRecords,
  recordUse,
  type SessionRecord,
  sessionRecord,
  sessionRecords,
} from '../token/queries.js'
import { providerRequiredError, type RecordBreakGlass } from './break-glass.js'

type Question = Omit<TokenVerification, 'token'>
type RequestContext = Pick<CommandMeta, 'now' | 'requestId'>

/**
 * Resolves the principal of a token. Throws `invalid_token` (never issued, mistyped, revoked), `token_expired`,
 * `workspace_forbidden` (no access, or no such workspace), `factor_enrolment_required` or `environment_forbidden`.
 */
export type VerifyToken = (question: TokenVerification, context: RequestContext) => Promise<VerifiedToken>

/** The last use of a token is recorded with this precision, in milliseconds. */
const noteEveryMs = 60_000

/**
 * The current permissions of many tokens: for each an index into the lists of permissions, or `null` if it would be
 * rejected. Counts as a use of the accepted tokens.
 */
export type ConfirmTokens = (
  questions: readonly TokenVerification[],
  context: RequestContext,
) => Promise<ConfirmedTokens>

export interface Verifier {
  verify: VerifyToken
  confirm: ConfirmTokens
}

export interface VerifierOptions {
  db: Drizzle
  sessions: Sessions
  keys: Keys
  operators: Operators
  recordBreakGlass: RecordBreakGlass
}

export function createVerifier({
  db,
  sessions,
  keys,
  operators,
  recordBreakGlass,
}: VerifierOptions): Verifier {
  const verifyKey = async (
    presentedToken: PresentedToken,
    record: KeyRecord | null,
    question: Question,
    context: RequestContext,
  ) => {
    if (!record || !constantTimeEqual(record.key.secretHash, presentedToken.secretHash)) throw invalidToken()
    const { key } = record
    if (key.status === 'rotated' && overlapIsOver(key, context.now)) {
      await keys.revokeReused(key, record.workspaceId, context)
      throw invalidToken()
    }
    if (key.status === 'revoked' && key.revocationReason !== 'expired') throw invalidToken()
    if (hasExpired(key, context.now)) throw tokenExpired()
    const principal = keyPrincipal(record, question)
    if (isDue(record.lastUsedAt, context.now)) await recordUse(db, key.id, context.now)
    return { principal, expiresAt: validityEnd(key) }
  }

  const verifySession = async (
    presentedToken: PresentedToken,
    record: SessionRecord | null,
    question: Question,
    { now, requestId }: RequestContext,
  ) => {
    if (!record || !constantTimeEqual(record.secretHash, presentedToken.secretHash)) throw invalidToken()
    const idleEnd = sessions.idleEnd(record.lastSeenAt)
    if (record.expiresAt <= now || idleEnd <= now) throw tokenExpired()
    const principal = sessionPrincipal(presentedToken.id, record, question)
    const { userId, userName, workspaceId } = record
    if (record.lacksProvider && workspaceId !== null)
      await recordBreakGlass(
        { sessionId: presentedToken.id, userId, userName, workspaceId },
        { now, requestId },
      )
    const seen = isDue(record.lastSeenAt, now)
    if (seen) await sessions.seen(presentedToken.id, now)
    const idleExpiry = seen ? sessions.idleEnd(now) : idleEnd
    return { principal, expiresAt: earlierInstant(idleExpiry, record.expiresAt) }
  }

  const toSessionQuery = (presentedToken: PresentedToken, { workspace }: Question) => ({
    id: presentedToken.id,
    workspaceSlug: workspace,
  })
  /** Uses one statement per kind of token, however many tokens there are. */
  const findAll = async (tokens: readonly TokenToConfirm[]) => {
    const ofSessions = tokens.filter(({ presented }) => presented && isSession(presented))
    const [ofKeys, found] = await Promise.all([
      keyRecords(
        db,
        tokens.flatMap(({ presented }) => (presented?.kind === 'key' ? presented.id : [])),
      ),
      sessionRecords(
        db,
        ofSessions.flatMap(({ presented, question }) =>
          presented ? toSessionQuery(presented, question) : [],
        ),
        operators,
      ),
    ])
    return { ofKeys, ofSessions: new Map(ofSessions.map((each, at) => [each, found[at] ?? null])) }
  }

  return {
    async verify({ token, ...question }, context) {
      const presentedToken = readToken(token)
      if (presentedToken?.kind === 'key')
        return verifyKey(presentedToken, await keyRecord(db, presentedToken.id), question, context)
      if (!presentedToken || !isSession(presentedToken)) throw invalidToken()
      const record = await sessionRecord(db, toSessionQuery(presentedToken, question), operators)
      return verifySession(presentedToken, record, question, context)
    },

    async confirm(questions, context) {
      const tokens = questions.map(({ token, ...question }) => ({ presented: readToken(token), question }))
      const { ofKeys, ofSessions } = await findAll(tokens)
      const confirmOne = async (each: TokenToConfirm) => {
        const { presented, question } = each
        if (presented?.kind === 'key')
          return verifyKey(presented, ofKeys.get(presented.id) ?? null, question, context)
        if (!presented) throw invalidToken()
        return verifySession(presented, ofSessions.get(each) ?? null, question, context)
      }
      const lists = createLists()
      const answers: (number | null)[] = []
      for (const each of tokens) {
        try {
          const { principal } = await confirmOne(each)
          answers.push(lists.placeOf(principal.permissions))
        } catch (error) {
          if (!(error instanceof ApiError) || error.status >= 500) throw error
          answers.push(null)
        }
      }
      return { permissions: lists.all, answers }
    },
  }
}

interface TokenToConfirm {
  presented: PresentedToken | null
  question: Question
}

const isSession = ({ kind }: PresentedToken) => kind === 'ses' || kind === 'web'

/** Deduplicates equal lists, so that each is sent once. */
function createLists() {
  const all: string[][] = []
  const places = new Map<string, number>()
  return {
    all,
    placeOf(list: readonly string[]): number {
      const text = list.join(' ')
      const place = places.get(text) ?? all.push([...list]) - 1
      places.set(text, place)
      return place
    },
  }
}

/** A key belongs to one workspace, and is void once its owner has left that workspace. */
function keyPrincipal(record: KeyRecord, { workspace, environment }: Question): Principal {
  const { key, workspaceId, workspaceSlug, allowed } = record
  if (allowed === null || (workspace !== undefined && workspace !== workspaceSlug)) throw workspaceForbidden()
  if (!isValidInEnvironment(key, environment)) throw environmentForbidden(key.environments ?? [])
  const actor = { id: key.id, name: key.name, type: 'api_token' as const }
  const identity = { actor, userId: key.userId, tokenId: key.id }
  if (workspace === undefined) return { ...identity, permissions: [] }
  const scopes: ReadonlySet<Permission> = new Set(key.scopes)
  const permissions = allowed.filter((permission) => scopes.has(permission))
  return { ...identity, ...toPerson(record), workspaceId, workspaceSlug, environment, permissions }
}

function sessionPrincipal(
  tokenId: string,
  record: SessionRecord,
  { workspace, environment }: Question,
): Principal {
  const { userId, userName, workspaceId, onlyWorkspaceId, allowed, provedAt } = record
  const identity = {
    ...{ actor: { id: userId, name: userName, type: 'user' as const }, userId, tokenId },
    ...(provedAt !== null && { provedAt }),
    // A session opened by a workspace's own sign-in is valid for that workspace only.
    ...(record.isOperator && onlyWorkspaceId === null && { operator: true as const }),
    ...(onlyWorkspaceId !== null && { onlyWorkspaceId }),
  }
  if (workspace === undefined) return { ...identity, permissions: [] }
  if (workspaceId === null || allowed === null) throw workspaceForbidden()
  if (onlyWorkspaceId !== null && onlyWorkspaceId !== workspaceId) throw workspaceForbidden()
  // An owner may enter without the provider, in case the provider is unavailable.
  if (record.lacksProvider && record.role !== 'owner') throw providerRequiredError(workspace)
  if (requiresFactor(record) && !provesFactor(record.methods)) throw factorMissing()
  const place = { workspaceId, workspaceSlug: workspace, environment }
  return { ...identity, ...toPerson(record), ...place, permissions: allowed }
}

/** Whether the workspace requires a second factor of this role, or of an owner who bypasses its identity provider. */
const requiresFactor = ({ signIn, role, lacksProvider }: SessionRecord): boolean =>
  lacksProvider || signIn.factorRequired || (role !== null && signIn.factorRoles.includes(role))

/** Role and e-mail of the user whose rights apply. */
const toPerson = ({ role, email }: { role: string | null; email: string | null }) => ({
  ...(role !== null && { role }),
  ...(email !== null && { email }),
})

function isDue(last: Instant | null, now: Instant): boolean {
  return last === null || Date.parse(now) - Date.parse(last) >= noteEveryMs
}

function invalidToken(): ApiError {
  return new ApiError('invalid_token', 'The access token is not valid.')
}

function tokenExpired(): ApiError {
  return new ApiError('token_expired', 'The access token has expired.')
}

function workspaceForbidden(): ApiError {
  return new ApiError('workspace_forbidden', 'The token has no access to this workspace.')
}

/** The session stays usable without a workspace, so that a factor can be added. */
function factorMissing(): ApiError {
  return new ApiError(
    'factor_enrolment_required',
    'This workspace requires a second factor. Add one by POST /auth/factors/totp or a passkey, or sign in again with the one you have.',
  )
}

function environmentForbidden(environments: readonly Environment[]): ApiError {
  return new ApiError('environment_forbidden', `The key is valid in ${environments.join(', ')} only.`)
}
