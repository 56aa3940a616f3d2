import { ApiError, type CatalogRequestState, notFound } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { eq, or, type SQL, sql } from 'drizzle-orm'
import { catalogRequests } from '../schema/catalog.js'

type Caller = Pick<RequestMeta, 'principal'>
type Persons = Pick<CatalogRequestState, 'requesterId' | 'requestedFor' | 'approvals'>

/** Whether the caller looks after the catalogue, and so sees drafts of items and everybody's requests. */
export const isCatalogManager = ({ principal }: Caller): boolean =>
  principal.permissions.includes('catalog:write')

const mayApprove = ({ principal }: Caller): boolean => principal.permissions.includes('itsm:approve')

const isOwn = ({ principal: { userId } }: Caller, request: Persons): boolean =>
  request.requesterId === userId || request.requestedFor === userId

/** Throws not_found unless the caller keeps the catalogue, has to do with the request, or is asked to decide on it. */
export function checkVisible(meta: Caller, request: Persons): void {
  const { userId } = meta.principal
  const asked = request.approvals.some(({ approverIds }) => approverIds?.includes(userId) ?? true)
  if (!isCatalogManager(meta) && !isOwn(meta, request) && !(asked && mayApprove(meta))) throw notFound()
}

/**
 * The same as a condition of a list; undefined where the caller sees all. Of a past state it holds only if it still does:
 * whom a request names once, it names for good.
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

/** A list of persons has this one. */
export const includesUser = (column: PersonsColumn, userId: string): SQL =>
  sql`${column} @> ${JSON.stringify([userId])}::jsonb`
export const includesAnyone = (column: PersonsColumn): SQL => sql`${column} @> '[null]'::jsonb`

/** A draft is written by whom it will say asked. */
export function checkRequester({ principal }: Caller, { requesterId }: Persons): void {
  if (principal.userId !== requesterId)
    throw new ApiError('forbidden', 'Only who has begun a request can change and submit it.')
}

export function checkMayCancel(meta: Caller, request: Persons): void {
  if (!isOwn(meta, request) && !isCatalogManager(meta))
    throw new ApiError('forbidden', 'Only who asked for it, and who gets it, can cancel a request.')
}
