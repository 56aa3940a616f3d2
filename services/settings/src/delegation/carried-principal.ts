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

/** Contents of a delegated token: the principal of the grant and the persons who use it. */
export interface CarriedRequest extends Pick<DelegationRequest, 'callers' | 'callerRights' | 'permissions'> {
  giver: Principal
  /** The person who uses the carried rights; the token identifies them as its user. */
  person?: Principal | undefined
  /** The workflow or app that acts; default: the person or else the giver. */
  actor?: Actor | undefined
}

/**
 * The principal of carried rights at `now`: the giver's current permissions within the grant, limited by each caller,
 * with the row rules of all of them. Throws `workspace_forbidden` if one of them is no longer a member,
 * `invalid_token` or `token_expired` if one of their API keys has ended.
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
  for (const { userId } of [giver, ...others, ...inherited]) requireMember(members, userId)
  for (const { tokenId } of [giver, ...others]) await requireLivingKey(db, tokenId, now)

  const narrowing = callerRights === 'permissions' ? callers : []
  const limits = [giver, ...narrowing].map(
    ({ userId }) => new Set<string>(requireMember(members, userId).permissions),
  )
  const permissions = giver.permissions.filter(
    (each) => limits.every((limit) => limit.has(each)) && (most?.includes(each) ?? true),
  )
  const speaker = person ?? giver
  const subjects = [giver, ...callers].map(({ userId }) => rowSubject(userId, requireMember(members, userId)))
  const { role, email } = requireMember(members, speaker.userId)
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

function requireMember(members: ReadonlyMap<string, ActiveMember>, userId: string): ActiveMember {
  const member = members.get(userId)
  if (!member) throw new ApiError('workspace_forbidden', 'The person is no longer a member of the workspace.')
  return member
}

/** Rights given with an API key end with the key; rights given in a session outlive the session. */
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

/** Each person once, without the speaker, whose row rules apply anyway. */
function distinct(subjects: readonly RowSubject[], speakerId: string): RowSubject[] {
  const byUser = new Map(subjects.map((subject) => [subject.userId, subject]))
  byUser.delete(speakerId)
  return [...byUser.values()]
}
