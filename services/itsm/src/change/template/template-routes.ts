import {
  AsOfListQuery,
  AsOfQuery,
  ChangeTemplate,
  ChangeTemplatePatch,
  NewChangeTemplate,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { changeTemplates as table } from '../../schema/change.js'
import { templateFilters, templateSelection } from './template-list.js'
import { templateStore } from './template-store.js'

const route = defineResource({
  name: 'ChangeTemplate',
  path: '/itsm/change-templates',
  tag: 'Change templates',
  read: 'itsm:read',
  write: 'itsm:manage',
  response: ChangeTemplate,
})

/** Routes of the templates for standard changes. */
export function changeTemplateRoutes(ctx: ServiceContext): Route[] {
  const templates = templateStore(ctx)
  return [
    route.list({
      summary: 'List change templates',
      description:
        'Returns templates that match all given filters. Newest first unless `sort` specifies otherwise. ' +
        `${shortPages}`,
      query: templateFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: templates.present,
        select: ({ query }) => templateSelection(query),
      }),
    }),

    route.create({
      summary: 'Create a change template',
      description:
        'Defines the pre-approved content of standard changes: their plans, impact and probability, the classes of ' +
        'items they may affect, and their maximum duration. Standard changes require no approval. Emits ' +
        '`change_template.created`.',
      body: NewChangeTemplate,
      handler: ({ body, meta }) => templates.add(body, meta),
    }),

    route.get({
      summary: 'Get a change template',
      description:
        'Includes the plans and the limits for changes created from the template. With `asOf`, returns the state at ' +
        'that instant.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => templates.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update a change template',
      description:
        'Drafts adopt the current state of the template when they are submitted; submitted changes keep the state at ' +
        'their submission. Emits `change_template.updated`.',
      body: ChangeTemplatePatch,
      handler: ({ params, body, meta }) => templates.patch(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a change template',
      description:
        'Submitted changes keep the template; drafts require a different template. Emits `change_template.deleted`.',
      handler: ({ params, meta }) => templates.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
