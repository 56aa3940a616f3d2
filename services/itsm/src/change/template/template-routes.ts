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
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${shortPages}`,
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
        'What is agreed on beforehand: the plans, impact and probability of the standard changes that come from it, the ' +
        'classes of items they may touch, and how long they may take. They need no approval. Emits ' +
        '`change_template.created`.',
      body: NewChangeTemplate,
      handler: ({ body, meta }) => templates.add(body, meta),
    }),

    route.get({
      summary: 'Get a change template',
      description: 'With its plans and what its changes are bound to. With `asOf` as it was then.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => templates.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update a change template',
      description:
        'Drafts take it over as it is when they are submitted; changes that are submitted keep it as it was then. Emits ' +
        '`change_template.updated`.',
      body: ChangeTemplatePatch,
      handler: ({ params, body, meta }) => templates.patch(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a change template',
      description:
        'Changes that are submitted keep it; drafts need another one. Emits `change_template.deleted`.',
      handler: ({ params, meta }) => templates.handle(params.id, { kind: 'delete' }, meta),
    }),
  ]
}
