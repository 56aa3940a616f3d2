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
        'Returns the built-in classes and the classes of the workspace that match all given filters, by name. With ' +
        '`asOf` and `q`, a page examines at most 1,000 classes, so it can be short, or even empty, although there is ' +
        'a `nextCursor`.',
      query: classFilters,
      sorts: ['name'],
      handler: ({ query: { sort, ...query }, binding, meta: { tenant } }) =>
        classPage(ctx, { ...query, direction: sort.direction, binding, tenant }),
    }),

    route.get({
      summary: 'Get a class',
      description:
        'A built-in class exists at every instant; a class of the workspace exists from its creation.',
      query: z.object({
        asOf: AsOfQuery.shape.asOf.meta({
          description: 'Returns the state of the class at this instant.',
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
        'Built-in classes can be updated as well. Existing items stay unchanged; their attributes are validated when ' +
        'they are next written.',
      body: CiClassPatch,
      errors: ['conflict'],
      handler: ({ params, body, meta }) => classes.patch(params.name, body, meta),
    }),
  ]
}
