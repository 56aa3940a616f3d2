import { AsOfListQuery, AsOfQuery, Change, ChangePatch, NewChange, shortPages } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type RequestMeta, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { resolveNumbers } from '../lists/number-references.js'
import { changes as table } from '../schema/change.js'
import type { ChangeStore } from './change-store.js'
import { changeFilters } from './list-filters.js'
import { type ChangeFilters, changeSelection, sortColumns } from './queries.js'

export const tag = 'Changes'

export const route = defineResource({
  name: 'Change',
  path: '/itsm/changes',
  tag,
  read: 'itsm:read',
  write: 'itsm:write',
  response: Change,
})

/** Routes that read, draft and edit changes. `:id` is an id or a number such as `CHG-12`. */
export function changeRoutes(ctx: ServiceContext, changes: ChangeStore): Route[] {
  return [
    route.list({
      summary: 'List changes',
      description:
        'Returns changes that match all given filters. Newest first unless `sort` specifies otherwise; when sorted ' +
        `by \`plannedStart\`, changes without a planned window come last. ${shortPages}`,
      query: changeFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'plannedStart', 'updatedAt', 'number'],
      handler: pageReader(ctx, {
        table,
        columns: sortColumns,
        present: changes.present,
        select: async ({ query, meta }) => ({
          onlyExposed: true,
          ...changeSelection(
            await resolveNumbers(ctx.database.db, meta.tenant, resolveMe(query, meta), 'problemId'),
          ),
        }),
      }),
    }),

    route.create({
      summary: 'Create a draft change',
      description:
        'Requires only `title`; a standard change requires `templateId` instead: the change copies the plans, impact ' +
        'and probability of the template, and the title of the template if `title` is omitted. Assesses the risk. ' +
        'Emits `change.created`.',
      body: NewChange,
      errors: ['version_conflict'],
      handler: ({ body, meta }) => changes.draft(body, meta),
    }),

    route.get({
      summary: 'Get a change',
      description: 'Accepts the id of the change or its number, such as `CHG-12`.',
      query: AsOfQuery,
      handler: async ({ params, query, meta }) =>
        changes.asOf(await changes.findId(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Edit a change',
      description:
        'The status determines which fields can be edited; type and template can be edited only in a draft. Fields ' +
        'that a standard change copies from its template cannot be edited: a different template replaces them, and a ' +
        'conversion to a normal or emergency change keeps them as its own. Before implementation begins, changing a ' +
        'field that approvals cover (title, description, items, planned window, plans, impact, risk) returns the ' +
        'change to draft and voids its approvals. A user who has edited the change cannot approve it, and a user who ' +
        'implemented it cannot write `reviewNotes`. Emits `change.updated`, with `approvalsVoided` if approvals are ' +
        'voided. An update without changes emits no event.',
      body: ChangePatch,
      errors: ['invalid_state_transition', 'forbidden'],
      handler: async ({ params, body, meta }) =>
        changes.edit(await changes.findId(params.id, meta.tenant), body, meta),
    }),
  ]
}

/** Replaces `me` with the caller's user id. A cursor is bound to `me`, so each caller pages through their own list. */
function resolveMe(filters: ChangeFilters, { principal }: RequestMeta): ChangeFilters {
  return filters.approverId === 'me' ? { ...filters, approverId: principal.userId } : filters
}
