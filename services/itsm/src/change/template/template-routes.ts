import {
  AsOfListQuery,
  AsOfQuery,
  ChangeTemplate,
  ChangeTemplatePatch,
  NewChangeTemplate,
  shortPages,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { changeTemplates as table } from '../../schema/change.js'
import { templateFilters, templateSelection, templateSortColumns } from './template-list.js'
import { templateStore } from './template-store.js'

const tag = 'Change templates'
const path = '/itsm/change-templates/:id'

/** What standard changes come from. */
export function changeTemplateRoutes(ctx: ServiceContext): Route[] {
  const templates = templateStore(ctx)
  return [
    defineList({
      operationId: 'listChangeTemplates',
      path: '/itsm/change-templates',
      summary: 'List change templates',
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${shortPages}`,
      tag,
      scope: 'itsm:read',
      query: templateFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: ChangeTemplate,
      handler: ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        listPage(ctx.database.db, {
          asOf,
          table,
          tenant: meta.tenant,
          ...templateSelection(filters),
          sort: { column: templateSortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors: ctx.cursors, present: templates.present },
        }),
    }),

    defineRoute({
      operationId: 'createChangeTemplate',
      method: 'post',
      path: '/itsm/change-templates',
      summary: 'Create a change template',
      description:
        'What is agreed on beforehand: the plans, impact and probability of the standard changes that come from it, the ' +
        'classes of items they may touch, and how long they may take. They need no approval. Emits ' +
        '`change_template.created`.',
      tag,
      scope: 'itsm:manage',
      body: NewChangeTemplate,
      response: ChangeTemplate,
      status: 201,
      handler: ({ body, meta }) => templates.add(body, meta),
    }),

    defineRoute({
      operationId: 'getChangeTemplate',
      method: 'get',
      path,
      summary: 'Get a change template',
      description: 'With its plans and what its changes are bound to. With `asOf` as it was then.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: ChangeTemplate,
      errors: ['not_found'],
      handler: ({ params, query, meta }) => templates.asOf(params.id, meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateChangeTemplate',
      method: 'patch',
      path,
      summary: 'Update a change template',
      description:
        'Drafts take it over as it is when they are submitted; changes that are submitted keep it as it was then. Emits ' +
        '`change_template.updated`.',
      tag,
      scope: 'itsm:manage',
      body: ChangeTemplatePatch,
      response: ChangeTemplate,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => templates.patch(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'deleteChangeTemplate',
      method: 'delete',
      path,
      summary: 'Delete a change template',
      description:
        'Changes that are submitted keep it; drafts need another one. Emits `change_template.deleted`.',
      tag,
      scope: 'itsm:manage',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await templates.handle(params.id, { kind: 'delete' }, meta)
      },
    }),
  ]
}
