import {
  type Actor,
  ApiError,
  type DelegationRequest,
  type Principal,
  type RowSubject,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import { type ActiveMember, findActiveMembers } from '../role/member-rights.js'
import { hasExpired } from '../token/domain.js'
import { keyRecord } from '../token/queries.js'
import { isKey } from './standing-grants.js'

/** What a token is to say: the grant's principal, and who uses the grant. */
export interface CarriedRequest extends Pick<DelegationRequest, 'callers' | 'callerRights' | 'permissions'> {
  giver: Principal
  /** Who uses what the grant carries: the token speaks as them. */
  person?: Principal | undefined
  /** The workflow or app that acts; the person or the giver unless given. */
  actor?: Actor | undefined
}

/**
 * The principal of a carried right, as of now: the giver's present rights within the grant, narrowed by each caller, with the
 * row rules of all of them. Throws `workspace_forbidden` for one who is no member any more, `invalid_token` or `token_expired`
 * for an API key that has ended.
 */
export async function carriedPrincipal(
  db: Drizzle,
  now: string,
  { giver, person, actor, callers = [], callerRights = 'permissions', permissions: most }: CarriedRequest,
): Promise<Principal> {
  const { workspaceId = '' } = giver
  const others = person ? [person, ...callers] : callers
  const inherited = [...(giver.callers ?? []), ...(person?.callers ?? [])]
  const users = [giver, ...others, ...inherited].map(({ userId }) => userId)
  const members = await findActiveMembers(db, workspaceId, [...new Set(users)])
  for (const { userId } of [giver, ...others, ...inherited]) memberOf(members, userId)
  for (const { tokenId } of [giver, ...others]) await requireLivingKey(db, tokenId, now)

  const narrowing = callerRights === 'permissions' ? callers : []
  const limits = [giver, ...narrowing].map(
    ({ userId }) => new Set<string>(memberOf(members, userId).permissions),
  )
  const permissions = giver.permissions.filter(
    (each) => limits.every((limit) => limit.has(each)) && (most?.includes(each) ?? true),
  )
  const speaker = person ?? giver
  const subjects = [giver, ...callers].map(({ userId }) => rowSubject(userId, memberOf(members, userId)))
  const { role, email } = memberOf(members, speaker.userId)
  const bound = distinct([...inherited, ...subjects], speaker.userId)
  const carriesSession = [giver, speaker].some((each) => each.carriesSession === true || !isKey(each))
  // Operators act in person only, never through a grant.
  const { callers: _, operator: __, ...own } = speaker
  return {
    ...own,
    ...{ role, email, permissions, actor: actor ?? speaker.actor },
    ...(carriesSession && { carriesSession }),
    ...(bound.length > 0 && { callers: bound }),
  }
}

function memberOf(members: ReadonlyMap<string, ActiveMember>, userId: string): ActiveMember {
  const member = members.get(userId)
  if (!member) throw new ApiError('workspace_forbidden', 'The person is no longer a member of the workspace.')
  return member
}

/** The rights of a key end with it; those of a session outlast it. */
async function requireLivingKey(db: Drizzle, tokenId: string, now: string): Promise<void> {
  const record = tokenId.startsWith('tok_') ? await keyRecord(db, tokenId) : undefined
  if (record === null || record?.key.status === 'revoked')
    throw new ApiError('invalid_token', 'The API key that the grant was requested with was revoked.')
  if (record && hasExpired(record.key, now))
    throw new ApiError('token_expired', 'The API key that the grant was requested with has expired.')
}

const rowSubject = (userId: string, { role, name, email }: ActiveMember): RowSubject => ({
  actor: { id: userId, name, type: 'user' },
  ...{ userId, role, email },
})

/** Each person once; the speaker's own rules apply already. */
function distinct(subjects: readonly RowSubject[], speakerId: string): RowSubject[] {
  const byUser = new Map(subjects.map((subject) => [subject.userId, subject]))
  byUser.delete(speakerId)
  return [...byUser.values()]
}
