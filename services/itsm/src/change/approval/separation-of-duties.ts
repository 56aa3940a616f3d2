import { ApiError, type ChangeState } from '@opsplane/contracts'

/** A whole change: what events carry, and who has had a hand in it. User ids; a user's API keys count as the user. */
export interface ChangeRecord extends ChangeState {
  /** Who has altered what is decided on. None of them decides. */
  editorIds: string[]
  /** Who was its assignee, or acted, while it was carried out. None of them reviews it. */
  implementerIds: string[]
  /** Submitted while the settings asked for no separation of duties: a hand in it keeps nobody from anything. */
  dutiesCombined?: true
}

export const exposeChange = ({
  editorIds: _,
  implementerIds: __,
  dutiesCombined: ___,
  ...shown
}: ChangeRecord): ChangeState => shown

/** Most people each list of a change has, as its state is in every event. */
export const maxContributors = 50

/** With one more. Throws forbidden beyond the bound: who is not remembered could pass for somebody without a hand in it. */
export function addContributor(userIds: readonly string[], userId: string | null): string[] {
  if (userId === null || userIds.includes(userId)) return [...userIds]
  if (userIds.length < maxContributors) return [...userIds, userId]
  const message = `${maxContributors} people have had a hand in this change, which is as many as it remembers.`
  throw new ApiError('forbidden', `${message} One of them must do this.`)
}

/** Who carries it out, with somebody who acts on it now. */
export const addImplementer = ({ implementerIds, assigneeId }: ChangeRecord, userId: string): string[] =>
  addContributor(addContributor(implementerIds, assigneeId), userId)

/** Throws forbidden for whoever carried it out, also where they have handed it over since. */
export function checkReviewer(change: ChangeRecord, userId: string): void {
  const { assigneeId, implementerIds, dutiesCombined } = change
  if (dutiesCombined) return
  if (userId === assigneeId || implementerIds.includes(userId))
    throw new ApiError('forbidden', 'Somebody who had no part in carrying the change out must review it.')
}
