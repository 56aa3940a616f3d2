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
      description:
        'Returns the built-in roles, then the roles of the workspace by name, with their permissions.',
      sorts: [],
      handler: ({ query: { limit, after }, binding, meta }) =>
        reading.list(meta.tenant.workspaceId, { limit, binding, ...(after !== undefined && { after }) }),
    }),

    route.get({
      summary: 'Get a role',
      description:
        'Returns a built-in role or a role of the workspace, with its permissions and its number of members.',
      handler: ({ params, meta }) => reading.get(meta.tenant.workspaceId, params.name),
    }),

    route.create({
      stepUp: true,
      summary: 'Create a custom role',
      description:
        'The role can contain only permissions of the caller. Returns 409 if the name exists or is built in. Emits ' +
        '`role.created`.',
      body: NewRole,
      errors: ['conflict', 'forbidden'],
      handler: ({ body, meta }) => roles.create(body, meta),
    }),

    route.update({
      stepUp: true,
      summary: 'Update a custom role',
      description:
        'Takes effect within a second for everyone who has the role and for their API keys. Built-in roles cannot be ' +
        'changed (409). Emits `role.updated`.',
      body: RolePatch,
      errors: ['conflict', 'forbidden'],
      handler: ({ params, body, meta }) => roles.update(params.name, body, meta),
    }),

    route.delete({
      stepUp: true,
      summary: 'Delete a custom role',
      description: 'Returns 409 while users have the role. Emits `role.deleted`.',
      errors: ['conflict', 'forbidden'],
      handler: ({ params, meta }) => roles.delete(params.name, meta),
    }),
  ]
}
