import { ApiError, type ChangeState } from '@opsplane/contracts'

/**
 * A change as stored: the state in events plus its contributors. These are user ids; an API key counts as its
 * owner.
 */
export interface ChangeRecord extends ChangeState {
  /** Users who edited the content to be approved. They may not decide. */
  editorIds: string[]
  /** Assignees and users who acted during implementation. They may not review the change. */
  implementerIds: string[]
  /**
   * Set if the change was submitted while the settings required
   * no separation of duties: contributors may decide and review.
   */
  dutiesCombined?: true
}

export const exposeChange = ({
  editorIds: _,
  implementerIds: __,
  dutiesCombined: ___,
  ...shown
}: ChangeRecord): ChangeState => shown

/** Maximum number of users in each list of a change, because its state is in every event. */
export const maxContributors = 50

/**
 * Adds a user. Throws forbidden beyond the limit, because an unrecorded contributor could approve or review the
 * change.
 */
export function addContributor(userIds: readonly string[], userId: string | null): string[] {
  if (userId === null || userIds.includes(userId)) return [...userIds]
  if (userIds.length < maxContributors) return [...userIds, userId]
  const message = `This change has the maximum of ${maxContributors} contributors.`
  throw new ApiError('forbidden', `${message} One of them must do this.`)
}

/** Returns the implementers including the assignee and the acting user. */
export const addImplementer = ({ implementerIds, assigneeId }: ChangeRecord, userId: string): string[] =>
  addContributor(addContributor(implementerIds, assigneeId), userId)

/** Throws forbidden for an implementer, including one who has handed the change over since. */
export function checkReviewer(change: ChangeRecord, userId: string): void {
  const { assigneeId, implementerIds, dutiesCombined } = change
  if (dutiesCombined) return
  if (userId === assigneeId || implementerIds.includes(userId))
    throw new ApiError('forbidden', 'An implementer of this change cannot review it.')
}
