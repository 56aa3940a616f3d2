import { ApiError, type CatalogRequestState, notFound } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { eq, or, type SQL, sql } from 'drizzle-orm'
import { catalogRequests } from '../schema/catalog.js'

type Caller = Pick<RequestMeta, 'principal'>
type Persons = Pick<CatalogRequestState, 'requesterId' | 'requestedFor' | 'approvals'>

/** Whether the caller manages the catalogue and therefore sees draft items and all requests. */
export const isCatalogManager = ({ principal }: Caller): boolean =>
  principal.permissions.includes('catalog:write')

const mayApprove = ({ principal }: Caller): boolean => principal.permissions.includes('itsm:approve')

const isOwn = ({ principal: { userId } }: Caller, request: Persons): boolean =>
  request.requesterId === userId || request.requestedFor === userId

/**
 * Throws not_found unless the caller manages the catalogue, is the requester or recipient, or is one of the
 * approvers.
 */
export function checkVisible(meta: Caller, request: Persons): void {
  const { userId } = meta.principal
  const isApprover = request.approvals.some(({ approverIds }) => approverIds?.includes(userId) ?? true)
  if (!isCatalogManager(meta) && !isOwn(meta, request) && !(isApprover && mayApprove(meta))) throw notFound()
}

/**
 * The rule of `checkVisible` as a condition for lists; `undefined` if the caller sees all requests. The condition
 * applies to the current state, also with `asOf`: a person named in a request stays named in it.
 */
export function visibleTo(meta: Caller): SQL | undefined {
  if (isCatalogManager(meta)) return undefined
  const { requesterId, requestedFor, approverIds } = catalogRequests
  const { userId } = meta.principal
  const own = [eq(requesterId, userId), eq(requestedFor, userId)]
  return or(
    ...own,
    ...(mayApprove(meta) ? [includesUser(approverIds, userId), includesAnyone(approverIds)] : []),
  )
}

type PersonsColumn = typeof catalogRequests.approverIds | typeof catalogRequests.assigneeIds

/** Condition: the list of users contains this user. */
export const includesUser = (column: PersonsColumn, userId: string): SQL =>
  sql`${column} @> ${JSON.stringify([userId])}::jsonb`
export const includesAnyone = (column: PersonsColumn): SQL => sql`${column} @> '[null]'::jsonb`

/** Throws forbidden unless the caller is the requester: only the requester edits and submits a draft. */
export function checkRequester({ principal }: Caller, { requesterId }: Persons): void {
  if (principal.userId !== requesterId)
    throw new ApiError('forbidden', 'Only the requester can edit and submit a request.')
}

export function checkMayCancel(meta: Caller, request: Persons): void {
  if (!isOwn(meta, request) && !isCatalogManager(meta))
    throw new ApiError('forbidden', 'Only the requester and the recipient can cancel a request.')
}
