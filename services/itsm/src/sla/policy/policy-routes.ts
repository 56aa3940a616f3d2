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
      description: `Returns policies that match all given filters. Newest first unless \`sort\` specifies otherwise. ${shortPages}`,
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
        'Applies to records opened from now on. Refused if a goal exceeds a year of the calendar or, unless the ' +
        'policy is inactive, if its timers could never start or run, or if their pause conditions would cancel them.',
      body: NewSlaPolicy,
      handler: ({ body, meta }) => saving.createPolicy(body, meta),
    }),

    route.get({
      summary: 'Get an SLA policy',
      description:
        'Includes the goals, the pause conditions of the timers and the escalations. With `asOf`, returns the state ' +
        'at that instant.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => policies.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update an SLA policy',
      description:
        'Creates a revision; existing timers keep their revision until the policy is reapplied. Changing `goalUnit` ' +
        'requires `goals` in the new unit.',
      body: SlaPolicyPatch,
      handler: ({ params, body, meta }) => saving.changePolicy(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete an SLA policy',
      description: 'Existing timers continue.',
      handler: ({ params, meta }) => policies.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
