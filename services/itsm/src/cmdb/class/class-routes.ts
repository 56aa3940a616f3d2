import { AsOfQuery, CiClass, CiClassPatch, NewCiClass } from '@opsplane/contracts'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { enforcedKeywords } from '../../json-schema/description.js'
import { tag } from '../item/item-routes.js'
import { classFilters } from '../list-filters.js'
import { classPage } from './class-list.js'
import type { ClassStore } from './class-store.js'

const route = defineResource({
  name: 'CiClass',
  plural: 'CiClasses',
  path: '/cmdb/classes',
  key: 'name',
  tag,
  read: 'cmdb:read',
  write: 'cmdb:write',
  response: CiClass,
})

/** Routes of the classes of configuration items. */
export function classRoutes(ctx: ServiceContext, classes: ClassStore): Route[] {
  return [
    route.list({
      summary: 'List classes',
      description:
        'The built-in classes and those of the workspace, by name. All given filters must hold. With `asOf` and `q` a ' +
        'page looks through 1,000 classes at most, so it can be short, even empty, while there is a `nextCursor`.',
      query: classFilters,
      sorts: ['name'],
      handler: ({ query: { sort, ...query }, binding, meta: { tenant } }) =>
        classPage(ctx, { ...query, direction: sort.direction, binding, tenant }),
    }),

    route.get({
      summary: 'Get a class',
      description: 'A built-in class was always there; one of the workspace since it was created.',
      query: z.object({
        asOf: AsOfQuery.shape.asOf.meta({
          description: 'Answer with the class as it was at this instant.',
          example: '2026-03-02T10:00:00.000Z',
        }),
      }),
      handler: ({ params, query, meta }) => classes.get(params.name, meta.tenant, query.asOf),
    }),

    route.create({
      summary: 'Create a class',
      description: `\`schema\` is a JSON Schema of type object. ${enforcedKeywords}`,
      body: NewCiClass,
      errors: ['conflict'],
      handler: ({ body, meta }) => classes.create(body, meta),
    }),

    route.update({
      summary: 'Update a class',
      description:
        'Also a built-in one. Items already there stay as they are; their attributes are checked when they are next written.',
      body: CiClassPatch,
      errors: ['conflict'],
      handler: ({ params, body, meta }) => classes.patch(params.name, body, meta),
    }),
  ]
}
