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

/** Rounds in which more turns up than a service lists at once. */
const maxRounds = 50

/** What hung on a person, and whether the successor has it now. */
export type TransferDependents = (
  succession: DependentsTransfer,
) => Promise<Pick<RemovedUser, 'dependents' | 'unanswered'>>

/**
 * Transfers what depends on a person to a successor, with the rights of the successor and in the name of the caller, as far as
 * possible. Throws `service_unavailable` where a service does not list what it has, before anything is transferred.
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
      // Who has named the successor has done it.
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
