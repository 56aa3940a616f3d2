import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Moment, MomentOrDay } from '../core/moment.js'
import { PermissionName } from '../core/permission-name.js'
import { permissions } from '../core/permissions.js'
import { Environment } from '../core/principal.js'
import { PlatformEvent } from '../events/event.js'
import { noSignInPolicy, SignInPolicy } from './sign-in-policy.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(100)
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
      description:
        'Time at which the user proved ownership of the e-mail address with a token or code mailed to it; `null` if ' +
        'never.',
    }),
    createdAt: At,
    updatedAt: At,
  })
  .meta({ id: 'Account' })
export type Account = z.infer<typeof Account>

export const WorkspaceSettings = z
  .object({
    timezone: z.string().refine(isTimezone, 'must be an IANA time zone').meta({ example: 'Europe/Paris' }),
    executionRetentionDays: z
      .int()
      .min(1)
      .max(365)
      .meta({ description: 'Number of days for which execution logs are kept.' }),
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

export const Workspace = WorkspaceState.extend({ version: ResourceVersion }).meta({ id: 'Workspace' })

export const WorkspaceAccess = Workspace.extend({ role: Role }).meta({
  id: 'WorkspaceAccess',
  description: 'A workspace, with the role of the caller in it.',
})
export type WorkspaceAccess = z.infer<typeof WorkspaceAccess>

/** Below `/workspaces` it refers to the workspace of the request. */
const reservedSlug = 'me'

export const NewWorkspace = z
  .strictObject({
    slug: Slug.refine((slug) => slug !== reservedSlug, `must not be ${reservedSlug}`),
    name: Name.optional().meta({ description: 'Name of the workspace. Default: its slug.' }),
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
    secrets: Count.meta({ description: 'Number of secrets in this environment.' }),
    resources: z.record(z.enum(countedResources), Count).meta({
      description:
        'Numbers of resources in this environment that were created and neither deleted nor archived. The numbers ' +
        'come from the audit log and may lag by a moment.',
    }),
    events: z
      .object({
        last24h: Count,
        last7d: Count,
        byType: z.array(z.object({ type: z.string(), last24h: Count, last7d: Count })),
      })
      .meta({
        description:
          'Numbers of events from the audit log of this environment; types of the last 7 days, most frequent first.',
      }),
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
      'Whether the user has proved ownership of the e-mail address with a code mailed to it. If not, the ' +
      'invitation may have been forwarded to another person.',
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
    accessToken: z.string().meta({ description: 'Access token. Send it as `Authorization: Bearer …`.' }),
    tokenType: z.literal('Bearer'),
    expiresAt: At.meta({ description: 'Latest end of the session; an idle session ends earlier.' }),
    user: Account,
    workspaces: z
      .array(WorkspaceAccess)
      .meta({ description: 'First 200 workspaces that the user can enter.' }),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

export const BrowserSession = Session.omit({ accessToken: true, tokenType: true }).meta({
  id: 'BrowserSession',
  description: 'Session stored in a cookie that scripts cannot read.',
})

const TokenStatus = z.enum(['active', 'rotated', 'revoked']).meta({
  id: 'TokenStatus',
  description: '`rotated`: the key is replaced by its successor and valid only until `validUntil`.',
})

export const RevocationReason = z
  .enum(['requested', 'reuse_detected', 'revoked_by_admin', 'user_removed', 'login_reclaimed', 'expired'])
  .meta({ id: 'RevocationReason' })
export type RevocationReason = z.infer<typeof RevocationReason>

/** An API key as contained in events. */
export const TokenState = z.object({
  id: idSchema('token'),
  name: z.string(),
  prefix: z.string().meta({ description: 'First characters of the key, by which to recognise it.' }),
  userId: idSchema('user').meta({ description: 'Id of the user to whom the key belongs.' }),
  issuedBy: z.string().meta({
    description:
      'Session or key with which the key was created. The key remains valid after that session or key ends: see ' +
      '`expiresAt` and `DELETE /auth/tokens/:id`.',
  }),
  scopes: z.array(PermissionName),
  environments: z
    .array(Environment)
    .nullable()
    .meta({ description: 'Environments in which the key is valid. `null`: every environment.' }),
  expiresAt: At.nullable(),
  status: TokenStatus,
  predecessorId: idSchema('token').nullable(),
  successorId: idSchema('token')
    .nullable()
    .meta({ description: 'Id of the key that replaces this key; set once the key is rotated.' }),
  validUntil: At.nullable().meta({
    description: 'End of the overlap with the successor; set once the key is rotated.',
  }),
  revokedAt: At.nullable(),
  revocationReason: RevocationReason.nullable(),
  createdAt: At,
  updatedAt: At,
})
export type TokenState = z.infer<typeof TokenState>

export const Token = TokenState.extend({
  lastUsedAt: At.nullable().meta({ description: 'Time of the last use, to the minute.' }),
  version: ResourceVersion,
}).meta({ id: 'Token' })
export type Token = z.infer<typeof Token>

export const TokenCreated = Token.extend({
  token: z.string().nullable().meta({
    description:
      'The API key. Returned only in this response; `null` if the response is replayed by Idempotency-Key.',
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
      .meta({ description: 'Scopes of the key. The caller must have all of these permissions.' }),
    expiresAt: Moment.optional().meta({ example: '2030-01-01T00:00:00.000Z' }),
    environments: z
      .array(Environment)
      .min(1)
      .max(3)
      .optional()
      .meta({ description: 'Environments in which the key is valid. Default: every environment.' }),
  })
  .meta({
    id: 'NewToken',
    example: { name: 'monitoring', scopes: ['itsm:read', 'itsm:write'], environments: ['production'] },
  })
export type NewToken = z.infer<typeof NewToken>

export const TokenFilters = z.object({
  userId: z.string().max(100).optional().meta({ description: 'Id of the user to whom the keys belong.' }),
  status: TokenStatus.optional(),
})

export const TokenRotation = z
  .strictObject({
    id: z
      .string()
      .optional()
      .meta({ description: 'Id of the key. Default: the key with which this request is made.' }),
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
    workspace: WorkspaceAccess.nullable().meta({
      description: 'Workspace of the request; `null` without X-Workspace.',
    }),
    environment: Environment.nullable(),
    permissions: z.array(z.string()),
    operator: z
      .boolean()
      .meta({ description: 'Whether the session belongs to a login that operates the installation.' }),
  })
  .meta({ id: 'Me' })
export type Me = z.infer<typeof Me>

/** An entry of the audit log: the event itself, and its position in the audit chain of its workspace. */
export const AuditEvent = PlatformEvent.extend({
  seq: z
    .int()
    .positive()
    .meta({ description: 'Position in the audit chain of the workspace, starting at 1 without gaps.' }),
  hash: z
    .string()
    .meta({ description: 'SHA-256 over the previous hash, `seq` and the event, in hexadecimal.' }),
}).meta({ id: 'AuditEvent' })
export type AuditEvent = z.infer<typeof AuditEvent>

export const AuditFilters = z.object({
  actor: z.string().max(100).optional().meta({ description: 'Id of the actor.' }),
  type: z
    .string()
    .max(100)
    .regex(/^(\*|[a-z0-9_.]+(\.\*)?)$/, 'must be an event type, `prefix.*` or `*`')
    .optional()
    .meta({ example: 'token.*' }),
  resourceType: z.string().max(100).optional(),
  resourceId: z.string().max(100).optional(),
  requestId: z.string().max(128).optional().meta({ description: 'Id of the request that caused the event.' }),
  address: z.string().max(45).optional().meta({ description: 'IP address from which the request was sent.' }),
  from: MomentOrDay.optional().meta({ description: 'Start of the period, inclusive.' }),
  to: MomentOrDay.optional().meta({ description: 'End of the period, exclusive.' }),
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
