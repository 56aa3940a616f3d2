import { AsOfQuery, CiClass, CiClassPatch, NewCiClass } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { enforcedKeywords } from '../../json-schema/description.js'
import { tag } from '../item/item-routes.js'
import { classFilters } from '../list-filters.js'
import { classPage } from './class-list.js'
import type { ClassStore } from './class-store.js'

/** The classes of configuration items. */
export function classRoutes(ctx: ServiceContext, classes: ClassStore): Route[] {
  return [
    defineList({
      operationId: 'listCiClasses',
      path: '/cmdb/classes',
      summary: 'List classes',
      description:
        'The built-in classes and those of the workspace, by name. All given filters must hold. With `asOf` and `q` a ' +
        'page looks through 1,000 classes at most, so it can be short, even empty, while there is a `nextCursor`.',
      tag,
      scope: 'cmdb:read',
      query: classFilters,
      sorts: ['name'],
      response: CiClass,
      handler: ({ query: { sort, ...query }, binding, meta: { tenant } }) =>
        classPage(ctx, { ...query, direction: sort.direction, binding, tenant }),
    }),

    defineRoute({
      operationId: 'getCiClass',
      method: 'get',
      path: '/cmdb/classes/:name',
      summary: 'Get a class',
      description: 'A built-in class was always there; one of the workspace since it was created.',
      tag,
      scope: 'cmdb:read',
      query: z.object({
        asOf: AsOfQuery.shape.asOf.meta({
          description: 'Answer with the class as it was at this instant.',
          example: '2026-03-02T10:00:00.000Z',
        }),
      }),
      response: CiClass,
      errors: ['not_found'],
      handler: ({ params, query, meta }) => classes.get(params.name, meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'createCiClass',
      method: 'post',
      path: '/cmdb/classes',
      summary: 'Create a class',
      description: `\`schema\` is a JSON Schema of type object. ${enforcedKeywords}`,
      tag,
      scope: 'cmdb:write',
      body: NewCiClass,
      response: CiClass,
      status: 201,
      errors: ['conflict'],
      handler: ({ body, meta }) => classes.create(body, meta),
    }),

    defineRoute({
      operationId: 'updateCiClass',
      method: 'patch',
      path: '/cmdb/classes/:name',
      summary: 'Update a class',
      description:
        'Also a built-in one. Items already there stay as they are; their attributes are checked when they are next written.',
      tag,
      scope: 'cmdb:write',
      body: CiClassPatch,
      response: CiClass,
      errors: ['not_found', 'conflict', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => classes.patch(params.name, body, meta),
    }),
  ]
}
