import {
  AsOfListQuery,
  AsOfQuery,
  NewSlaPolicy,
  SlaPolicy,
  SlaPolicyPatch,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { slaPolicies as table } from '../../schema/sla.js'
import { policyFilters } from '../list-filters.js'
import { policySelection } from '../queries.js'
import type { SlaStores } from '../timer/stores.js'
import type { SlaPolicyWriter } from './policy-writer.js'

export const tag = 'SLA policies'

export const route = defineResource({
  name: 'SlaPolicy',
  plural: 'SlaPolicies',
  path: '/itsm/sla-policies',
  tag,
  read: 'itsm:read',
  write: 'sla:write',
  response: SlaPolicy,
})

/** Routes of SLA policies. */
export function policyRoutes(ctx: ServiceContext, { policies }: SlaStores, saving: SlaPolicyWriter): Route[] {
  return [
    route.list({
      summary: 'List SLA policies',
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${shortPages}`,
      query: policyFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: policies.present,
        select: ({ query }) => policySelection(query),
      }),
    }),

    route.create({
      summary: 'Create an SLA policy',
      description:
        'Holds for what is opened from now on. A goal beyond a year of the calendar is refused, and, unless it is ' +
        'inactive, a policy whose timers could never begin or run, or would be canceled by what is to pause them.',
      body: NewSlaPolicy,
      handler: ({ body, meta }) => saving.createPolicy(body, meta),
    }),

    route.get({
      summary: 'Get an SLA policy',
      description: 'With its goals, what pauses its timers and its escalations. With `asOf` as it was then.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => policies.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update an SLA policy',
      description:
        'Makes a new revision; timers that began keep theirs until it is reapplied. Another `goalUnit` needs `goals` in it.',
      body: SlaPolicyPatch,
      handler: ({ params, body, meta }) => saving.changePolicy(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete an SLA policy',
      description: 'Timers that began go on.',
      handler: ({ params, meta }) => policies.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
