import { ApiError, type ChangeState } from '@opsplane/contracts'

/** A whole change: the state in events, and its contributors. User ids; a user's API keys count as the user. */
export interface ChangeRecord extends ChangeState {
  /** Users who edited the content to be approved. None of them decides. */
  editorIds: string[]
  /** Assignees and users who acted during implementation. None of them reviews it. */
  implementerIds: string[]
  /** Submitted while the settings required no separation of duties: contributors may decide and review. */
  dutiesCombined?: true
}

export const exposeChange = ({
  editorIds: _,
  implementerIds: __,
  dutiesCombined: ___,
  ...shown
}: ChangeRecord): ChangeState => shown

/** Most users in each list of a change, as its state is in every event. */
export const maxContributors = 50

/** Adds a user. Throws forbidden beyond the bound: a contributor who is not recorded could approve or review. */
export function addContributor(userIds: readonly string[], userId: string | null): string[] {
  if (userId === null || userIds.includes(userId)) return [...userIds]
  if (userIds.length < maxContributors) return [...userIds, userId]
  const message = `This change has the maximum of ${maxContributors} contributors.`
  throw new ApiError('forbidden', `${message} One of them must do this.`)
}

/** The implementers with the assignee and the user who acts now. */
export const addImplementer = ({ implementerIds, assigneeId }: ChangeRecord, userId: string): string[] =>
  addContributor(addContributor(implementerIds, assigneeId), userId)

/** Throws forbidden for an implementer, also one who has handed the change over since. */
export function checkReviewer(change: ChangeRecord, userId: string): void {
  const { assigneeId, implementerIds, dutiesCombined } = change
  if (dutiesCombined) return
  if (userId === assigneeId || implementerIds.includes(userId))
    throw new ApiError('forbidden', 'An implementer of this change cannot review it.')
}
