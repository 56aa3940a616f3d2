import {
  AsOfListQuery,
  AsOfQuery,
  ChangePolicy,
  ChangePolicyPatch,
  NewChangePolicy,
  newId,
  shortPages,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { changePolicies as table } from '../../schema/change.js'
import { changePolicy } from './policy.js'
import { policyFilters, policySelection, policySortColumns } from './policy-list.js'

const tag = 'Change policies'
const path = '/itsm/change-policies/:id'

/** Who approves which changes. */
export function changePolicyRoutes(ctx: ServiceContext): Route[] {
  const policies = ctx.store.aggregate(changePolicy)
  return [
    defineList({
      operationId: 'listChangePolicies',
      path: '/itsm/change-policies',
      summary: 'List change policies',
      description:
        'All given filters must hold. In the order they are tried in unless `sort` says otherwise, with `asOf` the newest ' +
        `first. ${shortPages}`,
      tag,
      scope: 'itsm:read',
      query: policyFilters.extend(AsOfListQuery.shape),
      sorts: ['order', '-createdAt', 'updatedAt', 'name'],
      response: ChangePolicy,
      handler: ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        listPage(ctx.database.db, {
          asOf,
          table,
          tenant: meta.tenant,
          ...policySelection(filters),
          sort: { column: policySortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors: ctx.cursors, present: policies.present },
        }),
    }),

    defineRoute({
      operationId: 'createChangePolicy',
      method: 'post',
      path: '/itsm/change-policies',
      summary: 'Create a change policy',
      description:
        'The first active policy by `order` whose conditions hold for a change says who is asked when it is ' +
        'submitted. Without any, one approval by anyone who may is needed for each stage. Emits ' +
        '`change_policy.created`.',
      tag,
      scope: 'itsm:manage',
      body: NewChangePolicy,
      response: ChangePolicy,
      status: 201,
      handler: ({ body, meta }) => {
        const id = newId('changePolicy')
        return policies.create(id, { kind: 'create', id, input: body, now: meta.now }, meta)
      },
    }),

    defineRoute({
      operationId: 'getChangePolicy',
      method: 'get',
      path,
      summary: 'Get a change policy',
      description: 'With its conditions and the approvals of both stages. With `asOf` as it was then.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: ChangePolicy,
      errors: ['not_found'],
      handler: ({ params, query, meta }) => policies.asOf(params.id, meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateChangePolicy',
      method: 'patch',
      path,
      summary: 'Update a change policy',
      description:
        'Changes that are submitted keep what they were submitted under. Emits `change_policy.updated`.',
      tag,
      scope: 'itsm:manage',
      body: ChangePolicyPatch,
      response: ChangePolicy,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) =>
        policies.handle(params.id, { kind: 'patch', patch: body, now: meta.now }, meta),
    }),

    defineRoute({
      operationId: 'deleteChangePolicy',
      method: 'delete',
      path,
      summary: 'Delete a change policy',
      description: 'Changes that are submitted keep it. Emits `change_policy.deleted`.',
      tag,
      scope: 'itsm:manage',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await policies.handle(params.id, { kind: 'delete' }, meta)
      },
    }),
  ]
}
