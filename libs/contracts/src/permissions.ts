/** Everything a role or an API key can be allowed, by family. Deny by default. */
export const permissions = [
  'workspace:read',
  'workspace:write',
  'users:read',
  'users:write',
  'owners:manage',
  'roles:read',
  'roles:write',
  'tokens:manage',
  'secrets:read',
  'secrets:write',
  'secrets:use',
  'credentials:manage',
  'audit:read',
  'notifications:read',
  'notifications:write',
  'itsm:read',
  'itsm:write',
  'itsm:approve',
  'itsm:manage',
  'cmdb:read',
  'cmdb:write',
  'sla:write',
  'knowledge:read',
  'knowledge:write',
  'catalog:read',
  'catalog:request',
  'catalog:write',
  'webhooks:read',
  'webhooks:write',
  'topics:read',
  'topics:write',
  'events:read',
  'tables:read',
  'tables:write',
  'records:read',
  'records:write',
  'queries:read',
  'queries:run',
  'queries:write',
  'queries:manage',
  'migrations:read',
  'migrations:write',
] as const

export type Permission = (typeof permissions)[number]

const reads = permissions.filter((permission) => permission.endsWith(':read'))
const administration: readonly Permission[] = [
  'workspace:write',
  'users:write',
  'owners:manage',
  'roles:write',
  'credentials:manage',
  'notifications:read',
  'notifications:write',
]
const withoutAdministration = permissions.filter((permission) => !administration.includes(permission))
const hiddenFromViewers: readonly Permission[] = [
  'secrets:read',
  'audit:read',
  'notifications:read',
  'queries:read',
  'migrations:read',
]

export const builtInRoles: Record<string, { description: string; permissions: readonly Permission[] }> = {
  owner: { description: 'Everything, and cannot be locked out.', permissions },
  admin: {
    description: 'Everything in the workspace, except making and unmaking owners.',
    permissions: permissions.filter((permission) => permission !== 'owners:manage'),
  },
  developer: {
    description: 'Builds and integrates; no user administration.',
    permissions: withoutAdministration,
  },
  agent: {
    description: 'Works the service desk.',
    permissions: [
      'workspace:read',
      'users:read',
      'itsm:read',
      'itsm:write',
      'itsm:approve',
      'cmdb:read',
      'cmdb:write',
      'knowledge:read',
      'knowledge:write',
      'catalog:read',
      'catalog:request',
      'catalog:write',
      'topics:read',
      'tokens:manage',
      'tables:read',
      'records:read',
      'records:write',
    ],
  },
  viewer: {
    description: 'Reads, except secrets, the audit log and what is for admins.',
    permissions: reads.filter((permission) => !hiddenFromViewers.includes(permission)),
  },
}
