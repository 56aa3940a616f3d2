import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Moment, MomentOrDay } from '../core/moment.js'
import { PermissionName } from '../core/permission-name.js'
import { permissions } from '../core/permissions.js'
import { Environment } from '../core/principal.js'
import { SecretHosts } from '../core/secret-hosts.js'
import { PlatformEvent } from '../events/event.js'
import { noSignInPolicy, SignInPolicy } from './sign-in-policy.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)
const Version = z.int().positive().meta({ description: 'Also the ETag; send it as If-Match.' })
const Email = z
  .string()
  .trim()
  .toLowerCase()
  .normalize('NFC')
  .max(254)
  .pipe(z.email())
  .meta({ example: 'ada@example.com' })
const Role = z.string().min(1).max(50).meta({ description: 'Name of a role.', example: 'developer' })

export const Slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and inner hyphens')
  .meta({ example: 'acme' })

/** A new password. Length is the only rule: it is more effective than character classes. */
export const NewPassword = z.string().min(12).max(256)

/** A person's login, which belongs to no workspace. */
export const Account = z
  .object({
    id: idSchema('user'),
    email: z.string(),
    name: z.string(),
    addressProvenAt: At.nullable().meta({
      description: 'When something that was mailed to the e-mail address came back from there; null: never.',
    }),
    createdAt: At,
    updatedAt: At,
  })
  .meta({ id: 'Account' })
export type Account = z.infer<typeof Account>

export const WorkspaceSettings = z
  .object({
    timezone: z.string().refine(isTimezone, 'must be an IANA time zone').meta({ example: 'Europe/Paris' }),
    executionRetentionDays: z.int().min(1).max(365).meta({ description: 'How long execution logs stay.' }),
  })
  .meta({ id: 'WorkspaceSettings' })
export type WorkspaceSettings = z.infer<typeof WorkspaceSettings>

/** A workspace as contained in events. */
export const WorkspaceState = z.object({
  id: idSchema('workspace'),
  slug: Slug,
  name: z.string(),
  settings: WorkspaceSettings,
  signIn: SignInPolicy.default(noSignInPolicy),
  createdAt: At,
  updatedAt: At,
})
export type WorkspaceState = z.infer<typeof WorkspaceState>

export const Workspace = WorkspaceState.extend({ version: Version }).meta({ id: 'Workspace' })

export const WorkspaceAccess = Workspace.extend({ role: Role }).meta({
  id: 'WorkspaceAccess',
  description: 'A workspace, with the role the caller has in it.',
})
export type WorkspaceAccess = z.infer<typeof WorkspaceAccess>

/** Below `/workspaces` it refers to the workspace of the request. */
const reservedSlug = 'me'

export const NewWorkspace = z
  .strictObject({
    slug: Slug.refine((slug) => slug !== reservedSlug, `must not be ${reservedSlug}`),
    name: Name.optional().meta({ description: 'The slug unless given.' }),
  })
  .meta({ id: 'NewWorkspace', example: { slug: 'acme', name: 'Acme' } })
export type NewWorkspace = z.infer<typeof NewWorkspace>

export const WorkspacePatch = z
  .strictObject({ name: Name, settings: WorkspaceSettings.partial().strict() })
  .partial()
  .meta({ id: 'WorkspacePatch', example: { name: 'Acme', settings: { timezone: 'Europe/Paris' } } })
export type WorkspacePatch = z.infer<typeof WorkspacePatch>

const Count = z.int().min(0)

/** Kinds of user-created resources, by the family of their events. */
export const countedResources = [
  'incident',
  'problem',
  'change',
  'request',
  'article',
  'ci',
  'catalog_item',
  'sla_policy',
  'workflow',
  'webhook',
  'connector',
  'app',
  'table',
  'record',
  'query',
  'artifact',
  'scheduled_job',
  'report',
  'dashboard',
  'kpi',
  'export',
] as const
export type CountedResource = (typeof countedResources)[number]

export const WorkspaceStats = z
  .object({
    members: Count,
    tokens: z.object({ active: Count, total: Count }),
    secrets: Count.meta({ description: 'In this environment.' }),
    resources: z.record(z.enum(countedResources), Count).meta({
      description:
        'What there is in this environment: created, and neither deleted nor archived. As far as the audit log has it, ' +
        'which is a moment behind.',
    }),
    events: z
      .object({
        last24h: Count,
        last7d: Count,
        byType: z.array(z.object({ type: z.string(), last24h: Count, last7d: Count })),
      })
      .meta({ description: 'From the audit log of this environment; types of the last 7 days, most first.' }),
  })
  .meta({ id: 'WorkspaceStats' })
export type WorkspaceStats = z.infer<typeof WorkspaceStats>

export const membershipStatuses = ['invited', 'active', 'suspended', 'deactivated'] as const
export const MembershipStatus = z.enum(membershipStatuses).meta({ id: 'MembershipStatus' })
export type MembershipStatus = z.infer<typeof MembershipStatus>

/** A member of a workspace, as contained in events. */
export const UserState = z.object({
  id: idSchema('user'),
  email: z.string(),
  name: z.string(),
  role: Role,
  status: MembershipStatus,
  addressProven: z.boolean().meta({
    description:
      'Whether the person has proved that the e-mail address is theirs, by a code mailed to it. Where not, the invitation may have been forwarded to another person.',
  }),
  createdAt: At,
  updatedAt: At,
})
export type UserState = z.infer<typeof UserState>

export const Credentials = z.strictObject({ email: Email, password: z.string().min(1).max(256) }).meta({
  id: 'Credentials',
  example: { email: 'ada@example.com', password: 'correct horse battery staple' },
})
export type Credentials = z.infer<typeof Credentials>

export const Session = z
  .object({
    accessToken: z.string().meta({ description: 'Send it as `Authorization: Bearer …`.' }),
    tokenType: z.literal('Bearer'),
    expiresAt: At.meta({ description: 'Absolute end; the session also ends when it lies idle.' }),
    user: Account,
    workspaces: z.array(WorkspaceAccess).meta({ description: 'The first 200 the user can enter.' }),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

export const BrowserSession = Session.omit({ accessToken: true, tokenType: true }).meta({
  id: 'BrowserSession',
  description: 'The session is in a cookie, which no script can read.',
})

const TokenStatus = z.enum(['active', 'rotated', 'revoked']).meta({
  id: 'TokenStatus',
  description: '`rotated`: replaced by its successor and valid until `validUntil` only.',
})

export const RevocationReason = z
  .enum(['requested', 'reuse_detected', 'revoked_by_admin', 'user_removed', 'login_reclaimed', 'expired'])
  .meta({ id: 'RevocationReason' })
export type RevocationReason = z.infer<typeof RevocationReason>

/** An API key as contained in events. */
export const TokenState = z.object({
  id: idSchema('token'),
  name: z.string(),
  prefix: z.string().meta({ description: 'How the key begins, to recognise it by.' }),
  userId: idSchema('user').meta({ description: 'Whose key it is.' }),
  issuedBy: z.string().meta({
    description:
      'The session or key it was made with. It outlives that: see `expiresAt` and `DELETE /auth/tokens/:id`.',
  }),
  scopes: z.array(PermissionName),
  environments: z.array(Environment).nullable().meta({ description: 'Null: every environment.' }),
  expiresAt: At.nullable(),
  status: TokenStatus,
  predecessorId: idSchema('token').nullable(),
  successorId: idSchema('token').nullable().meta({ description: 'Set once rotated.' }),
  validUntil: At.nullable().meta({ description: 'End of the overlap; set once rotated.' }),
  revokedAt: At.nullable(),
  revocationReason: RevocationReason.nullable(),
  createdAt: At,
  updatedAt: At,
})
export type TokenState = z.infer<typeof TokenState>

export const Token = TokenState.extend({
  lastUsedAt: At.nullable().meta({ description: 'To the minute.' }),
  version: Version,
}).meta({ id: 'Token' })
export type Token = z.infer<typeof Token>

export const TokenCreated = Token.extend({
  token: z.string().nullable().meta({
    description: 'The key itself, shown this once; null when the answer is replayed by Idempotency-Key.',
  }),
}).meta({ id: 'TokenCreated' })
export type TokenCreated = z.infer<typeof TokenCreated>

export const NewToken = z
  .strictObject({
    name: Name,
    scopes: z
      .array(PermissionName)
      .min(1)
      .max(permissions.length)
      .meta({ description: 'None beyond what the caller may do.' }),
    expiresAt: Moment.optional().meta({ example: '2030-01-01T00:00:00.000Z' }),
    environments: z.array(Environment).min(1).max(3).optional().meta({ description: 'Absent: every one.' }),
  })
  .meta({
    id: 'NewToken',
    example: { name: 'monitoring', scopes: ['itsm:read', 'itsm:write'], environments: ['production'] },
  })
export type NewToken = z.infer<typeof NewToken>

export const TokenFilters = z.object({
  userId: z.string().max(100).optional().meta({ description: 'Whose keys.' }),
  status: TokenStatus.optional(),
})

export const TokenRotation = z
  .strictObject({
    id: z.string().optional().meta({ description: 'Absent: the key this request is made with.' }),
  })
  .meta({ id: 'TokenRotation', example: {} })
export type TokenRotation = z.infer<typeof TokenRotation>

export const Me = z
  .object({
    user: Account,
    credential: z.object({
      id: z.string(),
      kind: z.enum(['session', 'api_key']),
      name: z.string().nullable(),
      expiresAt: At.nullable(),
    }),
    workspace: WorkspaceAccess.nullable().meta({ description: 'Null without X-Workspace.' }),
    environment: Environment.nullable(),
    permissions: z.array(z.string()),
    operator: z
      .boolean()
      .meta({ description: 'Whether it is a session of a login that operates the installation.' }),
  })
  .meta({ id: 'Me' })
export type Me = z.infer<typeof Me>

/** Usable in `{{secrets.<name>}}`. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,99}$/, 'must be a letter, then letters, digits and underscores')
  .meta({ example: 'payment_api_key' })

/** A secret as contained in events, without its value. */
export const SecretState = z.object({
  id: idSchema('secret'),
  name: SecretName,
  hosts: z.array(z.string()),
  createdAt: At,
  updatedAt: At,
})
export type SecretState = z.infer<typeof SecretState>

export const Secret = SecretState.extend({ version: Version }).meta({ id: 'Secret' })
export type Secret = z.infer<typeof Secret>

/** Uses are counted outside the event log: a crash loses those of the last minute. */
export const SecretUse = z.object({
  lastUsedAt: At.nullable().meta({ description: 'To the minute; null when no service has used it.' }),
  lastUsedBy: z.string().nullable().meta({ description: 'The service.', example: 'dispatcher' }),
  useCount: Count.meta({ description: 'How often services have asked for the value; up to a minute old.' }),
})
export type SecretUse = z.infer<typeof SecretUse>

export const UsedSecret = Secret.extend(SecretUse.shape).meta({ id: 'UsedSecret' })
export type UsedSecret = z.infer<typeof UsedSecret>

/** One use of a secret: the consumer, the user, and the host the value was sent to. */
export const SecretGrantUse = z.object({
  consumer: z
    .string()
    .meta({ description: 'What used it.', example: 'webhook/wh_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }),
  userId: z.string().meta({ description: 'The user it acted for, who may use secrets.' }),
  host: z.string(),
  service: z.string(),
  lastUsedAt: At,
  useCount: Count,
})
export type SecretGrantUse = z.infer<typeof SecretGrantUse>

export const SecretDetail = UsedSecret.extend({
  uses: z
    .array(SecretGrantUse)
    .meta({ description: 'The latest 100, the last one first; up to a minute old.' }),
}).meta({ id: 'SecretDetail' })
export type SecretDetail = z.infer<typeof SecretDetail>

const SecretValue = z.string().min(1).max(65_536)

export const NewSecret = z
  .strictObject({
    name: SecretName,
    value: SecretValue,
    hosts: SecretHosts.default([]).meta({
      description:
        'The only hosts the value is sent to: names or addresses without a port, `*.example.com` for any one label in front, or `*` for every host. Absent: none yet; a definition that names the secret towards a host adds it when a person with `secrets:write` saves it.',
    }),
  })
  .meta({
    id: 'NewSecret',
    example: { name: 'payment_api_key', value: 'the secret itself', hosts: ['api.example.com'] },
  })
export type NewSecret = z.infer<typeof NewSecret>

export const SecretRotation = z
  .strictObject({
    value: SecretValue,
    hosts: SecretHosts.optional().meta({
      description:
        'Take the place of all present ones, those added by definitions included. Absent: they stay.',
    }),
  })
  .meta({ id: 'SecretRotation', example: { value: 'the new secret' } })
export type SecretRotation = z.infer<typeof SecretRotation>

/** An entry of the audit log: the event itself, and its position in the audit chain of its workspace. */
export const AuditEvent = PlatformEvent.extend({
  seq: z.int().positive().meta({ description: 'Place in the chain of the workspace, from 1 without gaps.' }),
  hash: z.string().meta({ description: 'SHA-256 over the hash before, `seq` and the event, in hex.' }),
}).meta({ id: 'AuditEvent' })
export type AuditEvent = z.infer<typeof AuditEvent>

export const AuditFilters = z.object({
  actor: z.string().max(100).optional().meta({ description: 'Id of who acted.' }),
  type: z
    .string()
    .max(100)
    .regex(/^(\*|[a-z0-9_.]+(\.\*)?)$/, 'must be an event type, `prefix.*` or `*`')
    .optional()
    .meta({ example: 'token.*' }),
  resourceType: z.string().max(100).optional(),
  resourceId: z.string().max(100).optional(),
  requestId: z.string().max(128).optional().meta({ description: 'Of the request that caused the event.' }),
  address: z.string().max(45).optional().meta({ description: 'IP address the request came from.' }),
  from: MomentOrDay.optional().meta({ description: 'First instant that counts.' }),
  to: MomentOrDay.optional().meta({ description: 'First instant that no longer counts.' }),
})
export type AuditFilters = z.infer<typeof AuditFilters>

function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
