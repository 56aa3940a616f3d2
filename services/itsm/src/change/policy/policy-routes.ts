import {
  AsOfListQuery,
  AsOfQuery,
  ChangePolicy,
  ChangePolicyPatch,
  NewChangePolicy,
  newId,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { changePolicies as table } from '../../schema/change.js'
import { changePolicy } from './policy.js'
import { policyFilters, policySelection } from './policy-list.js'

const route = defineResource({
  name: 'ChangePolicy',
  plural: 'ChangePolicies',
  path: '/itsm/change-policies',
  tag: 'Change policies',
  read: 'itsm:read',
  write: 'itsm:manage',
  response: ChangePolicy,
})

/** Routes of change approval policies, which define who approves which changes. */
export function changePolicyRoutes(ctx: ServiceContext): Route[] {
  const policies = ctx.store.aggregate(changePolicy)
  return [
    route.list({
      summary: 'List change policies',
      description:
        'Returns policies that match all given filters. Listed in evaluation order unless `sort` specifies ' +
        `otherwise; with \`asOf\`, newest first. ${shortPages}`,
      query: policyFilters.extend(AsOfListQuery.shape),
      sorts: ['order', '-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: policies.present,
        select: ({ query }) => policySelection(query),
      }),
    }),

    route.create({
      summary: 'Create a change policy',
      description:
        'The first active policy by `order` whose conditions match a change determines the approvers when the change ' +
        'is submitted. If no policy matches, each stage requires one approval by any user who may approve. Emits ' +
        '`change_policy.created`.',
      body: NewChangePolicy,
      handler: ({ body, meta }) => {
        const id = newId('changePolicy')
        return policies.create(id, { kind: 'create', id, input: body, now: meta.now }, meta)
      },
    }),

    route.get({
      summary: 'Get a change policy',
      description:
        'Includes the conditions and the approvals of both stages. With `asOf`, returns the state at that instant.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => policies.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update a change policy',
      description:
        'Submitted changes keep the policy that applied at their submission. Emits `change_policy.updated`.',
      body: ChangePolicyPatch,
      handler: ({ params, body, meta }) =>
        policies.handle(params.id, { kind: 'patch', patch: body, now: meta.now }, meta),
    }),

    route.delete({
      summary: 'Delete a change policy',
      description: 'Submitted changes keep the policy. Emits `change_policy.deleted`.',
      handler: ({ params, meta }) => policies.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
