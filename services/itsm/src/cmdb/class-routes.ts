import { CiClass, CiClassPatch, NewCiClass } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { ClassStore } from './class-store.js'
import { tag } from './item-routes.js'

/** The classes of configuration items; they are few, so their list has no pages. */
export function classRoutes(classes: ClassStore): Route[] {
  return [
    defineRoute({
      operationId: 'listCiClasses',
      method: 'get',
      path: '/cmdb/classes',
      summary: 'List classes',
      description: 'The built-in classes and those of the workspace.',
      tag,
      scope: 'cmdb:read',
      response: z.array(CiClass),
      handler: ({ meta }) => classes.list(meta.tenant),
    }),

    defineRoute({
      operationId: 'createCiClass',
      method: 'post',
      path: '/cmdb/classes',
      summary: 'Create a class',
      description:
        '`schema` is a JSON Schema of type object made of keywords that are enforced: type, properties, required, ' +
        'additionalProperties, items, uniqueItems, enum, const, anyOf, if, then, else, format, and the bounds of ' +
        'numbers, texts and lists.',
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
