import { AsOfListQuery, AsOfQuery, NewProblem, Problem, ProblemPatch, shortPages } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { problems as table } from '../schema/problem.js'
import { problemFilters } from './list-filters.js'
import type { ProblemStore } from './problem-store.js'
import { problemSelection, sortColumns } from './queries.js'

export const tag = 'Problems'

export const route = defineResource({
  name: 'Problem',
  path: '/itsm/problems',
  tag,
  read: 'itsm:read',
  write: 'itsm:write',
  response: Problem,
})

/** Routes that read, record and change problems. `:id` is an id or a number such as `PRB-12`. */
export function problemRoutes(ctx: ServiceContext, problems: ProblemStore): Route[] {
  return [
    route.list({
      summary: 'List problems',
      description:
        'Returns problems that match all given filters; `knownError=true` lists the known errors. Newest first ' +
        `unless \`sort\` specifies otherwise. ${shortPages}`,
      query: problemFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'number'],
      handler: pageReader(ctx, {
        table,
        columns: sortColumns,
        present: problems.present,
        select: ({ query }) => problemSelection(query),
      }),
    }),

    route.create({
      summary: 'Create a problem',
      description:
        'Requires only `title`. Impact and urgency determine the priority. `ciIds` reference items of the CMDB that ' +
        'are not retired. Emits `problem.created`.',
      body: NewProblem,
      errors: ['version_conflict'],
      handler: ({ body, meta }) => problems.record(body, meta),
    }),

    route.get({
      summary: 'Get a problem',
      description: 'Accepts the id of the problem or its number, such as `PRB-12`.',
      query: AsOfQuery,
      handler: async ({ params, query, meta }) =>
        problems.asOf(await problems.findId(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update a problem',
      description:
        'Changes the given fields, until the problem is closed; the status changes only through actions. A changed ' +
        'workaround is no longer published. A known error must keep a root cause and a workaround. Emits ' +
        '`problem.updated`; an update without changes emits no event.',
      body: ProblemPatch,
      errors: ['invalid_state_transition'],
      handler: async ({ params, body, meta }) =>
        problems.change(await problems.findId(params.id, meta.tenant), body, meta),
    }),
  ]
}
