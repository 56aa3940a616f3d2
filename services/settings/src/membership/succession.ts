import { ApiError, ErrorEnvelope, type Principal, type RemovedUser } from '@opsplane/contracts'
import type { PlatformClients, RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { Delegations } from '../delegation/delegations.js'
import { membersOf } from '../role/rights.js'
import { type FindDependents, type FoundOfAll, type OwnedBySomebody, shownDependent } from './dependents.js'

type Outcome = Pick<RemovedUser['dependents'][number], 'takenOver' | 'problem'>

export interface SuccessionOptions {
  db: Drizzle
  neighbours: PlatformClients
  delegations: Pick<Delegations, 'actingAsSuccessor'>
  findDependents: FindDependents
}

export interface Succession {
  userId: string
  successorId: string
  meta: RequestMeta
}

/** Rounds in which more turns up than a service lists at once. */
const mostRounds = 50

/** What hung on a person, and whether the successor has it now. */
export type Succeed = (succession: Succession) => Promise<Pick<RemovedUser, 'dependents' | 'unanswered'>>

/**
 * Makes somebody the successor of a person: takes over, by the rights of the successor and in the name of the caller, all
 * that can be. Throws `service_unavailable` where a service does not say what it has, before anything is taken over.
 */
export function createSucceed({ db, neighbours, delegations, findDependents }: SuccessionOptions): Succeed {
  return async ({ userId, successorId, meta }) => {
    const { workspaceId } = meta.tenant
    const question = { workspaceId, userId, successorId }
    const member = (await membersOf(db, workspaceId, [successorId])).get(successorId)
    if (!member) throw new ApiError('not_found', 'The successor is no active member of the workspace.')
    const { role, permissions, email } = member
    const principalIn = ({ environment }: OwnedBySomebody): Principal => ({
      // Who has named the successor has done it.
      ...{ actor: meta.actor, userId: successorId, tokenId: `succession:${userId}` },
      ...{ workspaceId, environment, role, email, permissions },
    })

    const takeOver = async (dependent: OwnedBySomebody): Promise<Outcome> => {
      const client = neighbours.get(dependent.service as never)
      if (!client || !dependent.takeOver) return { takenOver: false, problem: null }
      const issuer = delegations.actingAsSuccessor(principalIn(dependent), userId)
      const { method, path, body } = dependent.takeOver
      const { status, body: answer } = await client
        .request({ method, path, issuer, ...(body !== null && { body }) })
        .catch((error: unknown) => ({ status: 503, body: undefined, error }))
      if (status < 400) return { takenOver: true, problem: null }
      const envelope = ErrorEnvelope.safeParse(answer)
      return { takenOver: false, problem: envelope.data?.error.message ?? 'The service does not answer.' }
    }

    const outcomes = new Map<string, RemovedUser['dependents'][number]>()
    const round = async (all: FoundOfAll) => {
      const fresh = all.found.filter(({ kind, id }) => !outcomes.has(`${kind}/${id}`))
      for (const each of fresh)
        outcomes.set(`${each.kind}/${each.id}`, { ...shownDependent(each), ...(await takeOver(each)) })
      return fresh.some(({ takeOver: call }) => call !== null)
    }
    for (let rounds = 0; rounds < mostRounds; rounds++) {
      const all = await findDependents(question)
      if (all.unanswered.length > 0 && rounds === 0)
        throw new ApiError(
          'service_unavailable',
          `${all.unanswered.join(', ')} did not say what hangs on the person, so that nothing was taken over. Try again.`,
        )
      if (!(await round(all))) break
    }
    return { dependents: [...outcomes.values()], unanswered: [] }
  }
}
