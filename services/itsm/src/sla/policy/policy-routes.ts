import {
  AsOfListQuery,
  AsOfQuery,
  NewSlaPolicy,
  SlaPolicy,
  SlaPolicyPatch,
  shortPages,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { slaPolicies as table } from '../../schema/sla.js'
import { policyFilters } from '../list-filters.js'
import { policySelection, policySorts } from '../queries.js'
import type { SlaStores } from '../timer/stores.js'
import type { SlaPolicyWriter } from './policy-writer.js'

export const tag = 'SLA policies'
const path = '/itsm/sla-policies/:id'

/** What is promised, and for what. */
export function policyRoutes(ctx: ServiceContext, { policies }: SlaStores, saving: SlaPolicyWriter): Route[] {
  return [
    defineList({
      operationId: 'listSlaPolicies',
      path: '/itsm/sla-policies',
      summary: 'List SLA policies',
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${shortPages}`,
      tag,
      scope: 'itsm:read',
      query: policyFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: SlaPolicy,
      handler: ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        listPage(ctx.database.db, {
          ...{ asOf, table, tenant: meta.tenant },
          ...policySelection(filters),
          sort: { column: policySorts[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors: ctx.cursors, present: policies.present },
        }),
    }),

    defineRoute({
      operationId: 'createSlaPolicy',
      method: 'post',
      path: '/itsm/sla-policies',
      summary: 'Create an SLA policy',
      description:
        'Holds for what is opened from now on. A goal beyond a year of the calendar is refused, and, unless it is ' +
        'inactive, a policy whose timers could never begin or run, or would be canceled by what is to pause them.',
      tag,
      scope: 'sla:write',
      body: NewSlaPolicy,
      response: SlaPolicy,
      status: 201,
      handler: ({ body, meta }) => saving.createPolicy(body, meta),
    }),

    defineRoute({
      operationId: 'getSlaPolicy',
      method: 'get',
      path,
      summary: 'Get an SLA policy',
      description: 'With its goals, what pauses its timers and its escalations. With `asOf` as it was then.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: SlaPolicy,
      errors: ['not_found'],
      handler: ({ params, query, meta }) => policies.asOf(params.id, meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateSlaPolicy',
      method: 'patch',
      path,
      summary: 'Update an SLA policy',
      description:
        'Makes a new revision; timers that began keep theirs until it is reapplied. Another `goalUnit` needs `goals` in it.',
      tag,
      scope: 'sla:write',
      body: SlaPolicyPatch,
      response: SlaPolicy,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => saving.changePolicy(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'deleteSlaPolicy',
      method: 'delete',
      path,
      summary: 'Delete an SLA policy',
      description: 'Timers that began go on.',
      tag,
      scope: 'sla:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await policies.handle(params.id, { kind: 'delete' }, meta)
      },
    }),
  ]
}
