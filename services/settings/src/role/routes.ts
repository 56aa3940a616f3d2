import { NewRole, Role, RolePatch } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { RoleReader } from './role-reader.js'
import type { Roles } from './roles.js'

const tag = 'Roles'

/** Roles of the current workspace. */
export function roleRoutes(roles: Roles, reading: RoleReader): Route[] {
  return [
    defineList({
      operationId: 'listRoles',
      path: '/settings/roles',
      summary: 'List roles',
      description: 'The built-in ones, then those of the workspace by name, with what each allows.',
      tag,
      scope: 'roles:read',
      sorts: [],
      response: Role,
      handler: ({ query: { limit, after }, binding, meta }) =>
        reading.list(meta.tenant.workspaceId, { limit, binding, ...(after !== undefined && { after }) }),
    }),

    defineRoute({
      operationId: 'getRole',
      method: 'get',
      path: '/settings/roles/:name',
      summary: 'Get a role',
      description: 'Built-in or of the workspace, with its permissions and the number of its members.',
      tag,
      scope: 'roles:read',
      response: Role,
      errors: ['not_found'],
      handler: ({ params, meta }) => reading.get(meta.tenant.workspaceId, params.name),
    }),

    defineRoute({
      operationId: 'createRole',
      stepUp: true,
      method: 'post',
      path: '/settings/roles',
      summary: 'Create a custom role',
      description:
        'It can contain only permissions of the caller. 409 for a name that exists or is built in. Emits `role.created`.',
      tag,
      scope: 'roles:write',
      body: NewRole,
      response: Role,
      status: 201,
      errors: ['conflict', 'forbidden'],
      handler: ({ body, meta }) => roles.create(body, meta),
    }),

    defineRoute({
      operationId: 'updateRole',
      stepUp: true,
      method: 'patch',
      path: '/settings/roles/:name',
      summary: 'Update a custom role',
      description:
        'Takes effect for everyone who has the role, and for their API keys, within a second. Built-in roles ' +
        'cannot be changed (409). Emits `role.updated`.',
      tag,
      scope: 'roles:write',
      body: RolePatch,
      response: Role,
      errors: ['not_found', 'conflict', 'forbidden', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => roles.update(params.name, body, meta),
    }),

    defineRoute({
      operationId: 'deleteRole',
      stepUp: true,
      method: 'delete',
      path: '/settings/roles/:name',
      summary: 'Delete a custom role',
      description: '409 while users have it. Emits `role.deleted`.',
      tag,
      scope: 'roles:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'conflict', 'forbidden', 'precondition_failed', 'version_conflict'],
      handler: ({ params, meta }) => roles.delete(params.name, meta),
    }),
  ]
}
