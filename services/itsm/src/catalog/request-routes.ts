import {
  AsOfListQuery,
  AsOfQuery,
  CatalogRequest,
  CatalogRequestPatch,
  CatalogRequestStatus,
  NewCatalogRequest,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type RequestMeta, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, reference, searchFilter, searchSyntax } from '../lists/filters.js'
import { catalogRequests as table } from '../schema/catalog.js'
import { checkRequester, isCatalogManager, visibleTo } from './access.js'
import { tag } from './item-routes.js'
import { type RequestFilters, requestSelection } from './queries.js'
import type { RequestStore } from './request-store.js'

const filters = z.object({
  status: listParameter(CatalogRequestStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['awaiting_approval'],
    }),
  itemId: reference.optional(),
  requesterId: reference.optional().meta({ description: 'A user, or `me`.' }),
  approverId: reference
    .optional()
    .meta({ description: 'Requests this user, or `me`, may still approve or reject.' }),
  assigneeId: reference
    .optional()
    .meta({ description: 'Requests with a task this user, or `me`, can work on.' }),
  q: searchFilter.meta({ description: `Words in number, name of the item or notes. ${searchSyntax}` }),
  ...createdFilters,
})

export const route = defineResource({
  name: 'CatalogRequest',
  path: '/catalog/requests',
  tag,
  read: 'catalog:read',
  write: 'catalog:request',
  response: CatalogRequest,
})

/** Replaces `me` with the caller's user id. */
function resolveMe(filters: RequestFilters, { principal: { userId } }: RequestMeta): RequestFilters {
  const known = (id: string | undefined) => (id === 'me' ? userId : id)
  const { requesterId, approverId, assigneeId } = filters
  return {
    ...filters,
    requesterId: known(requesterId),
    approverId: known(approverId),
    assigneeId: known(assigneeId),
  }
}

/** Routes to request items of the catalogue. `:id` is an id or a number such as `REQ-12`. */
export function requestRoutes(ctx: ServiceContext, requests: RequestStore): Route[] {
  return [
    route.list({
      summary: 'List requests',
      description:
        'Those with `catalog:write` get all; others get those they asked for, those they are to get, and, with ' +
        '`itsm:approve`, those they are asked to decide on; with `asOf`, those they had been asked to by then. Newest ' +
        `first unless \`sort\` says otherwise. ${shortPages}`,
      query: filters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt'],
      handler: pageReader(ctx, {
        table,
        present: requests.present,
        select: ({ query, binding, meta }) => ({
          ...requestSelection(resolveMe(query, meta), visibleTo(meta)),
          binding: `${isCatalogManager(meta)}|${meta.principal.userId}|${binding}`,
        }),
      }),
    }),

    route.create({
      summary: 'Request an item',
      description:
        'Submits it at once unless `draft` is true; a draft may still lack what the form requires. Each fault of ' +
        '`formData` is a detail whose `params.schemaPath` points into the form. Emits `request.created` and, when ' +
        'submitted, `request.submitted` and `request.updated` as it goes on to its approvals or its tasks.',
      body: NewCatalogRequest,
      errors: ['version_conflict'],
      handler: ({ body, meta }) => requests.create(body, meta),
    }),

    route.get({
      summary: 'Get a request',
      description: 'By its id, or by its number such as `REQ-12`.',
      query: AsOfQuery,
      handler: ({ params, query: { asOf }, meta }) => requests.asOf(params.id, asOf, meta),
    }),

    route.update({
      summary: 'Edit a draft of a request',
      description:
        'By who began it; `formData` is replaced as a whole and held against the item as it is now. Emits ' +
        '`request.updated`; what changes nothing emits nothing.',
      body: CatalogRequestPatch,
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      handler: ({ params, body, meta }) =>
        requests.executeWithItem(
          params.id,
          (item) => ({ kind: 'edit', now: meta.now, item, patch: body }),
          meta,
          checkRequester,
        ),
    }),

    route.action('submit', {
      summary: 'Submit a draft of a request',
      description:
        'By who began it. The request is pinned to the item as it is now. Emits `request.submitted`, and ' +
        '`request.updated` as it goes on to its approvals or its tasks.',
      errors: ['invalid_state_transition', 'forbidden', 'conflict'],
      handler: ({ params, meta }) =>
        requests.executeWithItem(
          params.id,
          (item, ids) => ({ kind: 'submit', now: meta.now, item, ids }),
          meta,
          checkRequester,
        ),
    }),
  ]
}
