import { buildId, longText, pickAt, type Schemas, secondsAgo } from './states.js'

const names = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson', 'Edsger Dijkstra']
const roles = ['owner', 'developer', 'agent', 'viewer', 'admin']

export function userAt(index: number, isLong = false): Schemas['User'] {
  const name = isLong ? longText : pickAt(names, index)
  const status = index % 7 === 2 ? 'invited' : index % 11 === 5 ? 'suspended' : 'active'
  return {
    ...{ id: buildId('usr', index), name, role: pickAt(roles, index), status, version: 2 },
    email: isLong
      ? `${'a-very-long-address-of-a-person'.repeat(3)}@example.com`
      : `${name.split(' ')[0]?.toLowerCase()}${index < 5 ? '' : index}@acme.example.com`,
    ...{
      addressProven: index % 7 !== 2,
      invitationExpiresAt: status === 'invited' ? secondsAgo(-86_400) : null,
    },
    allowedActions: status === 'invited' ? ['invite', 'remove'] : ['change_role', 'suspend', 'remove'],
    ...{ createdAt: secondsAgo(8_000_000 + index), updatedAt: secondsAgo(90_000) },
  }
}

const permissions: Schemas['Permission'][] = [
  ...(['itsm:read', 'itsm:write', 'webhooks:read', 'webhooks:write', 'runs:read', 'runs:manage'] as const),
  ...(['audit:read', 'users:read', 'users:write', 'secrets:read', 'tables:read', 'records:read'] as const),
]

export const roleAt = (index: number, isLong = false): Schemas['Role'] => ({
  ...{
    id: index < 5 ? null : buildId('rol', index),
    name: index < 5 ? pickAt(roles, index) : `team_${index}`,
  },
  ...{ builtIn: index < 5, members: index * 3, permissions: permissions.slice(0, 12 - (index % 10)) },
  description: isLong ? longText : 'Handles incidents and requests of the service desk.',
  ...{ createdAt: null, updatedAt: null, version: index < 5 ? null : 3 },
})

export const keyAt = (index: number, isLong = false): Schemas['Token'] => ({
  ...{
    id: buildId('tok', index),
    name: isLong ? longText : pickAt(['deploy pipeline', 'nightly export'], index),
  },
  ...{ prefix: 'ops_key_7XQ4', scopes: permissions.slice(0, 3 + (index % 5)), environments: ['production'] },
  ...{
    userId: buildId('usr', 0),
    issuedBy: buildId('usr', 0),
    status: index % 6 === 5 ? 'revoked' : 'active',
  },
  ...{ revocationReason: null, revokedAt: null, successorId: null, predecessorId: null, validUntil: null },
  ...{ createdAt: secondsAgo(900_000), updatedAt: secondsAgo(900_000), version: 1 },
  ...{ expiresAt: secondsAgo(-2_592_000), lastUsedAt: secondsAgo(300 + index * 77) },
})

export const secretAt = (index: number, isLong = false): Schemas['UsedSecret'] => ({
  ...{
    id: buildId('sec', index),
    name: isLong ? 'a_secret_with_a_rather_long_name_'.repeat(3) : `jira_token_${index}`,
  },
  hosts: isLong
    ? ['*.a-very-long-name-of-a-host.internal.example.com', 'b.example.com']
    : ['acme.atlassian.net'],
  ...{ useCount: index * 12, lastUsedBy: 'connector', lastUsedAt: secondsAgo(4_000), version: 2 },
  ...{ createdAt: secondsAgo(900_000), updatedAt: secondsAgo(90_000) },
})

export const providerAt = (index: number, isLong = false): Schemas['IdentityProvider'] => ({
  ...{
    id: buildId('idp', index),
    name: isLong ? longText : 'Acme SSO',
    issuer: 'https://login.acme.example.com',
  },
  ...{ clientId: 'opsplane', clientSecretSetAt: secondsAgo(90_000), scopes: ['openid', 'email', 'profile'] },
  ...{
    domains: ['acme.example.com'],
    enabled: true,
    required: false,
    defaultRole: 'viewer',
    roleClaim: 'groups',
  },
  roles: [{ value: 'platform-team', role: 'admin' }],
  redirectUri: 'https://ops.acme.example.com/api/v1/auth/sso/callback',
  backchannelLogoutUri: 'https://ops.acme.example.com/api/v1/auth/sso/logout',
  ...{ createdAt: secondsAgo(900_000), updatedAt: secondsAgo(90_000), version: 1 },
})

export const sessionAt = (index: number): Schemas['SessionDetail'] => ({
  ...{ id: buildId('ses', index), userId: buildId('usr', 0), current: index === 0, address: '203.0.113.24' },
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  ...{
    createdAt: secondsAgo(90_000),
    lastSeenAt: secondsAgo(40 + index * 9_000),
    expiresAt: secondsAgo(-90_000),
  },
  methods: ['password', 'passkey'],
})

export const notificationAt = (index: number, isLong = false): Schemas['Notification'] => ({
  ...{ id: buildId('ntf', index), eventId: buildId('evt', index), environment: 'production', audience: null },
  ...{ type: 'webhook.paused', severity: pickAt(['critical', 'warning', 'info'] as const, index) },
  title: isLong
    ? longText
    : pickAt(['Status page was paused', 'A dead letter waits', 'Export is ready'], index),
  message: isLong
    ? `${longText} ${longText}`
    : 'Its endpoint has failed 100 times in a row. Mend it, then resume the webhook.',
  resource: { id: buildId('whk', 4), type: 'webhook', displayName: 'Status page' },
  ...{ createdAt: secondsAgo(60 + index * 3_700), readAt: index % 3 === 0 ? null : secondsAgo(30) },
})

/** Permissions for everything that the pages request. */
export const permissionsOfOwner: readonly Schemas['Permission'][] = [
  ...permissions,
  ...([
    'owners:manage',
    'credentials:manage',
    'roles:read',
    'roles:write',
    'tokens:manage',
    'secrets:write',
    'events:read',
  ] as const),
  ...(['topics:read', 'notifications:read', 'workspace:read', 'workspace:write', 'executions:read'] as const),
  ...(['sdk:invoke', 'workflows:read'] as const),
]

export const me = (isOperator: boolean, granted: readonly string[]): Schemas['Me'] => ({
  credential: { id: buildId('ses', 0), kind: 'session', name: null, expiresAt: null },
  ...{ environment: 'production', operator: isOperator, permissions: [...granted] },
  user: {
    ...{ id: buildId('usr', 0), name: 'Ada Lovelace', email: 'ada@acme.example.com' },
    ...{ addressProvenAt: secondsAgo(90_000), createdAt: secondsAgo(900_000), updatedAt: secondsAgo(90_000) },
  },
  workspace: { ...workspace, role: 'owner' },
})

export const workspace: Schemas['Workspace'] = {
  ...{ id: buildId('wsp', 0), name: 'Acme', slug: 'acme', version: 1 },
  settings: { executionRetentionDays: 30, timezone: 'Europe/Berlin' },
  ...{ createdAt: secondsAgo(9_000_000), updatedAt: secondsAgo(900_000) },
}

/** Includes the uses of the secret. */
export const secretDetail = (name: string, isLong: boolean) => ({
  ...{ ...secretAt(1, isLong), name },
  uses: [
    {
      ...{ consumer: buildId('con', 1), service: 'integrations', userId: buildId('usr', 0), useCount: 12 },
      ...{ host: 'acme.atlassian.net', lastUsedAt: secondsAgo(4_000) },
    },
  ],
})
