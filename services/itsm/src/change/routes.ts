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
        'All given filters must hold. Newest first unless `sort` says otherwise; by `plannedStart`, those without ' +
        `a planned window come after all others. ${shortPages}`,
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
      summary: 'Draft a change',
      description:
        'Only `title` is needed; for a standard change `templateId`, from which it has its plans, impact and probability, ' +
        'and its title where none is given. Judges the risk. Emits `change.created`.',
      body: NewChange,
      errors: ['version_conflict'],
      handler: ({ body, meta }) => changes.draft(body, meta),
    }),

    route.get({
      summary: 'Get a change',
      description: 'By its id, or by its number such as `CHG-12`.',
      query: AsOfQuery,
      handler: async ({ params, query, meta }) =>
        changes.asOf(await changes.findId(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Edit a change',
      description:
        'Which fields can be edited depends on the status; type and template only in a draft. What a standard change has ' +
        'from its template is not edited: another template gives it other texts, and as a normal or emergency change it ' +
        'keeps them as its own. Before the work has begun, ' +
        'altering what approvals stand for (title, description, items, planned window, plans, impact, risk) makes it a ' +
        'draft again and voids them. Who has written on it cannot approve it, and who carried it out cannot write ' +
        '`reviewNotes`. Emits `change.updated`, with `approvalsVoided` where it voids any. What changes nothing emits nothing.',
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
