import { NewRole, Role, RolePatch } from '@opsplane/contracts'
import { defineResource, type Route } from '@opsplane/http'
import type { RoleReader } from './role-reader.js'
import type { Roles } from './roles.js'

const route = defineResource({
  name: 'Role',
  path: '/settings/roles',
  key: 'name',
  tag: 'Roles',
  read: 'roles:read',
  write: 'roles:write',
  response: Role,
})

/** Routes for the roles of the current workspace. */
export function roleRoutes(roles: Roles, reading: RoleReader): Route[] {
  return [
    route.list({
      summary: 'List roles',
      description: 'The built-in ones, then those of the workspace by name, with what each allows.',
      sorts: [],
      handler: ({ query: { limit, after }, binding, meta }) =>
        reading.list(meta.tenant.workspaceId, { limit, binding, ...(after !== undefined && { after }) }),
    }),

    route.get({
      summary: 'Get a role',
      description: 'Built-in or of the workspace, with its permissions and the number of its members.',
      handler: ({ params, meta }) => reading.get(meta.tenant.workspaceId, params.name),
    }),

    route.create({
      stepUp: true,
      summary: 'Create a custom role',
      description:
        'It can contain only permissions of the caller. 409 for a name that exists or is built in. Emits `role.created`.',
      body: NewRole,
      errors: ['conflict', 'forbidden'],
      handler: ({ body, meta }) => roles.create(body, meta),
    }),

    route.update({
      stepUp: true,
      summary: 'Update a custom role',
      description:
        'Takes effect for everyone who has the role, and for their API keys, within a second. Built-in roles ' +
        'cannot be changed (409). Emits `role.updated`.',
      body: RolePatch,
      errors: ['conflict', 'forbidden'],
      handler: ({ params, body, meta }) => roles.update(params.name, body, meta),
    }),

    route.delete({
      stepUp: true,
      summary: 'Delete a custom role',
      description: '409 while users have it. Emits `role.deleted`.',
      errors: ['conflict', 'forbidden'],
      handler: ({ params, meta }) => roles.delete(params.name, meta),
    }),
  ]
}
