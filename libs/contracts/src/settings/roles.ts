import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type Permission, permissions } from '../core/permissions.js'
import { NewToken, Workspace } from './settings.js'

const At = z.iso.datetime({ precision: 3 })
const Permissions = z.array(NewToken.shape.scopes.element)
const Description = z.string().trim().max(500)

const RoleName = z
  .string()
  .regex(/^[a-z](?:[a-z0-9-]{0,48}[a-z0-9])?$/, 'must be lower-case letters, digits and inner hyphens')
  .meta({ example: 'release-manager' })

/** A custom role of a workspace, as contained in events. */
export const RoleState = z.object({
  id: idSchema('role'),
  name: RoleName,
  description: z.string(),
  permissions: Permissions,
  createdAt: At,
  updatedAt: At,
})
export type RoleState = z.infer<typeof RoleState>

export const Role = z
  .object({
    id: idSchema('role').nullable().meta({ description: 'Id of the role; `null` for a built-in role.' }),
    name: RoleName,
    description: z.string(),
    permissions: Permissions,
    builtIn: z.boolean().meta({
      description:
        'Whether the role is built in. Built-in roles are the same in every workspace and cannot be changed.',
    }),
    members: z.int().min(0).meta({ description: 'Number of users with this role who are not deactivated.' }),
    createdAt: At.nullable(),
    updatedAt: At.nullable(),
    version: Workspace.shape.version.nullable(),
  })
  .meta({ id: 'Role' })
export type Role = z.infer<typeof Role>

const GrantedPermissions = Permissions.max(permissions.length)
  .transform((listed): Permission[] => permissions.filter((permission) => listed.includes(permission)))
  .meta({
    description: 'Permissions of the role. The caller must have all of them.',
    example: ['itsm:read', 'itsm:write'],
  })

export const NewRole = z
  .strictObject({ name: RoleName, description: Description.default(''), permissions: GrantedPermissions })
  .meta({ id: 'NewRole', example: { name: 'auditor', permissions: ['audit:read'] } })
export type NewRole = z.infer<typeof NewRole>

export const RolePatch = z
  .strictObject({ description: Description, permissions: GrantedPermissions })
  .partial()
  .meta({ id: 'RolePatch', example: { permissions: ['audit:read', 'events:read'] } })
export type RolePatch = z.infer<typeof RolePatch>
