import { AsOfListQuery, AsOfQuery, NewProblem, Problem, ProblemPatch, shortPages } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { problems as table } from '../schema/problem.js'
import { transitionErrors } from '../transition-errors.js'
import { problemFilters } from './list-filters.js'
import type { ProblemStore } from './problem-store.js'
import { problemSelection, sortColumns } from './queries.js'

export const tag = 'Problems'

/** Reading, recording and changing problems. `:id` is an id or a number such as `PRB-12`. */
export function problemRoutes(ctx: ServiceContext, problems: ProblemStore): Route[] {
  return [
    defineList({
      operationId: 'listProblems',
      path: '/itsm/problems',
      summary: 'List problems',
      description:
        'All given filters must hold; `knownError=true` lists the known errors. Newest first unless `sort` says ' +
        `otherwise. ${shortPages}`,
      tag,
      scope: 'itsm:read',
      query: problemFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'number'],
      response: Problem,
      handler: ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        listPage(ctx.database.db, {
          asOf,
          table,
          tenant: meta.tenant,
          ...problemSelection(filters),
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          limit,
          after,
          binding,
          cursors: ctx.cursors,
          present: problems.present,
        }),
    }),

    defineRoute({
      operationId: 'createProblem',
      method: 'post',
      path: '/itsm/problems',
      summary: 'Record a problem',
      description:
        'Only `title` is needed. The priority comes from impact and urgency. `ciIds` name items of the CMDB that are ' +
        'not retired. Emits `problem.created`.',
      tag,
      scope: 'itsm:write',
      body: NewProblem,
      response: Problem,
      status: 201,
      errors: ['version_conflict'],
      handler: ({ body, meta }) => problems.record(body, meta),
    }),

    defineRoute({
      operationId: 'getProblem',
      method: 'get',
      path: '/itsm/problems/:id',
      summary: 'Get a problem',
      description: 'By its id, or by its number such as `PRB-12`.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: Problem,
      errors: ['not_found'],
      handler: async ({ params, query, meta }) =>
        problems.asOf(await problems.findId(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateProblem',
      method: 'patch',
      path: '/itsm/problems/:id',
      summary: 'Update a problem',
      description:
        'Changes the given fields, until the problem is closed; the status changes by actions alone. A workaround ' +
        'that is changed is not published any more. A known error keeps a root cause and a workaround. Emits ' +
        '`problem.updated`; what changes nothing emits nothing.',
      tag,
      scope: 'itsm:write',
      body: ProblemPatch,
      response: Problem,
      errors: transitionErrors,
      handler: async ({ params, body, meta }) =>
        problems.change(await problems.findId(params.id, meta.tenant), body, meta),
    }),
  ]
}
