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
  requesterId: reference.optional().meta({ description: 'Requester: a user, or `me`.' }),
  approverId: reference
    .optional()
    .meta({ description: 'Requests that this user, or `me`, may still approve or reject.' }),
  assigneeId: reference
    .optional()
    .meta({ description: 'Requests with a task that this user, or `me`, can work on.' }),
  q: searchFilter.meta({
    description: `Words to find in the number, the name of the item or the notes. ${searchSyntax}`,
  }),
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
        'Callers with `catalog:write` see all requests. Other callers see the requests they made, those they are the ' +
        'recipient of and, with `itsm:approve`, those that ask for their approval; with `asOf`, those that asked for ' +
        `it by that instant. Newest first unless \`sort\` specifies otherwise. ${shortPages}`,
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
      summary: 'Request a catalogue item',
      description:
        'Submits the request immediately unless `draft` is true; a draft may omit fields the form requires. Each ' +
        'error in `formData` is a detail whose `params.schemaPath` points into the form. Emits `request.created` ' +
        'and, if submitted, `request.submitted` and `request.updated` as the request proceeds to its approvals or ' +
        'tasks.',
      body: NewCatalogRequest,
      errors: ['version_conflict'],
      handler: ({ body, meta }) => requests.create(body, meta),
    }),

    route.get({
      summary: 'Get a request',
      description: 'Accepts the id of the request or its number, such as `REQ-12`.',
      query: AsOfQuery,
      handler: ({ params, query: { asOf }, meta }) => requests.asOf(params.id, asOf, meta),
    }),

    route.update({
      summary: 'Edit a draft request',
      description:
        'Allowed for the requester only. Replaces `formData` as a whole and validates it against the current state ' +
        'of the item. Emits `request.updated`; an update without changes emits no event.',
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
      summary: 'Submit a draft request',
      description:
        'Allowed for the requester only. Pins the request to the current state of the item. Emits ' +
        '`request.submitted`, and `request.updated` as the request proceeds to its approvals or tasks.',
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
