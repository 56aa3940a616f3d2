import { ApiError, type RemovedUser, type UserDependents } from '@opsplane/contracts'
import { type RequestMeta, validationFailed } from '@opsplane/http'
import { type FindDependents, toDependent, toDependents } from './dependents.js'
import type { Members } from './members.js'
import type { TransferDependents } from './transfer-dependents.js'

/** Removes a user and the resources that depend on them. */
export interface Removals {
  /** Throws `not_found`, and `forbidden` if the caller may not change the person. */
  dependents(userId: string, meta: RequestMeta): Promise<UserDependents>
  /** Throws the errors of `members.remove`, and `forbidden` for a successor with more permissions than the caller. */
  remove(userId: string, successorId: string | undefined, meta: RequestMeta): Promise<RemovedUser>
}

export interface RemovalParts {
  members: Pick<Members, 'requireChange' | 'requireRemovable' | 'requireCharge' | 'remove'>
  findDependents: FindDependents
  transferDependents: TransferDependents
}

export function createRemovals({ members, findDependents, transferDependents }: RemovalParts): Removals {
  const questionOf = (userId: string, { tenant: { workspaceId } }: RequestMeta) => ({
    ...{ workspaceId, userId, successorId: null },
  })

  const succeeded = async (userId: string, successorId: string, meta: RequestMeta) => {
    if (successorId === userId)
      throw successorError('same_user', 'Must be another user than the one who leaves.')
    await members.requireCharge(successorId, meta).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'not_found')
        throw successorError('unknown_user', 'Must be an active member of the workspace.')
      throw error
    })
    return transferDependents({ userId, successorId, meta })
  }
  const left = async (userId: string, meta: RequestMeta) => {
    const { found, unanswered } = await findDependents(questionOf(userId, meta))
    const dependents = found.map((each) => ({ ...toDependent(each), takenOver: false, problem: null }))
    return { dependents, unanswered }
  }

  return {
    async dependents(userId, meta) {
      await members.requireChange(userId, meta)
      return toDependents(await findDependents(questionOf(userId, meta)))
    },
    async remove(userId, successorId, meta) {
      await members.requireRemovable(userId, meta)
      const rest = await (successorId === undefined
        ? left(userId, meta)
        : succeeded(userId, successorId, meta))
      return { ...(await members.remove(userId, meta)), ...rest }
    },
  }
}

const successorError = (code: string, message: string) =>
  validationFailed([{ in: 'query', path: '/successor', code, message }])
