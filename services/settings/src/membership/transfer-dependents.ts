import { ApiError, ErrorEnvelope, type Principal, type RemovedUser } from '@opsplane/contracts'
import type { PlatformClients, RequestMeta } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import type { Delegations } from '../delegation/delegations.js'
import { findActiveMembers } from '../role/member-rights.js'
import {
  type DependentsResult,
  type FindDependents,
  type ServiceDependent,
  toDependent,
} from './dependents.js'

type Outcome = Pick<RemovedUser['dependents'][number], 'takenOver' | 'problem'>

export interface TransferOptions {
  db: Drizzle
  neighbours: PlatformClients
  delegations: Pick<Delegations, 'actingAsSuccessor'>
  findDependents: FindDependents
}

export interface DependentsTransfer {
  userId: string
  successorId: string
  meta: RequestMeta
}

/** Maximum number of rounds, for persons with more dependents than a service lists in one response. */
const maxRounds = 50

/** The resources that depended on a person, and whether each was transferred to the successor. */
export type TransferDependents = (
  succession: DependentsTransfer,
) => Promise<Pick<RemovedUser, 'dependents' | 'unanswered'>>

/**
 * Transfers the resources that depend on a person to a successor as far as possible, with the rights of the successor
 * and with the caller as the actor. Throws `service_unavailable` before anything is transferred if a service does not
 * respond.
 */
export function createTransferDependents({
  db,
  neighbours,
  delegations,
  findDependents,
}: TransferOptions): TransferDependents {
  return async ({ userId, successorId, meta }) => {
    const { workspaceId } = meta.tenant
    const question = { workspaceId, userId, successorId }
    const member = (await findActiveMembers(db, workspaceId, [successorId])).get(successorId)
    if (!member) throw new ApiError('not_found', 'The successor is not an active member of the workspace.')
    const { role, permissions, email } = member
    const principalIn = ({ environment }: ServiceDependent): Principal => ({
      // The actor is the person who named the successor.
      ...{ actor: meta.actor, userId: successorId, tokenId: `succession:${userId}` },
      ...{ workspaceId, environment, role, email, permissions },
    })

    const takeOver = async (dependent: ServiceDependent): Promise<Outcome> => {
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
    const round = async (all: DependentsResult) => {
      const fresh = all.found.filter(({ kind, id }) => !outcomes.has(`${kind}/${id}`))
      for (const each of fresh)
        outcomes.set(`${each.kind}/${each.id}`, { ...toDependent(each), ...(await takeOver(each)) })
      return fresh.some(({ takeOver: call }) => call !== null)
    }
    for (let rounds = 0; rounds < maxRounds; rounds++) {
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
