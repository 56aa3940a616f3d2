import { z } from 'zod'
import { PermissionName } from '../core/permission-name.js'
import { Environment, Principal } from '../core/principal.js'
import { Credentials, NewPassword, Slug } from './settings.js'

/** Sent by the gateway to settings to verify a token. */
export const TokenVerification = z.strictObject({
  token: z.string().max(500),
  /** Slug; absent on the few routes that work outside a workspace. */
  workspace: z.string().max(100).optional(),
  environment: Environment,
})
export type TokenVerification = z.infer<typeof TokenVerification>

/** The principal of the token, and when the token expires (`null`: never). */
export const VerifiedToken = z.object({
  principal: Principal,
  expiresAt: z.iso.datetime({ precision: 3 }).nullable(),
})
export type VerifiedToken = z.infer<typeof VerifiedToken>

/** Tokens of streaming responses. Once a second the gateway checks whether they are still valid. */
export const TokenConfirmation = z.strictObject({ questions: z.array(TokenVerification).max(1_000) })

export const ConfirmedTokens = z.object({
  /** Distinct lists of permissions. */
  permissions: z.array(z.array(z.string())),
  /** For each question the index of the token's permissions in `permissions`; `null` if the token is rejected. */
  answers: z.array(z.int().min(0).nullable()),
})
export type ConfirmedTokens = z.infer<typeof ConfirmedTokens>

/** Maximum secrets of one request, and maximum characters of all their values together. */
export const maxSecretsAtOnce = 50
export const maxSecretsLength = 64 * 1024

/** Sent by a service to settings before it sends secrets to a host. */
export const SecretResolution = z.strictObject({
  workspaceId: z.string(),
  environment: Environment,
  names: z.array(z.string().max(128)).max(maxSecretsAtOnce),
  /** The one host the values are sent to, in the form of `hostOfUrl`. */
  host: z.string().min(1).max(255),
  /** The user the secrets are used for, who must have `secrets:use` at this moment. */
  userId: z.string().max(100),
  /** The resource that uses them, as kind and id: `webhook/wh_…`. */
  consumer: z.string().max(200),
})
export type SecretResolution = z.infer<typeof SecretResolution>

/** Why an existing secret is not returned. */
export const SecretRefusal = z.enum(['host_not_allowed', 'permission_missing', 'too_large'])
export type SecretRefusal = z.infer<typeof SecretRefusal>

/** By name; names without a secret are absent in both. */
export const ResolvedSecrets = z.object({
  values: z.record(z.string(), z.string()),
  refused: z.record(z.string(), SecretRefusal),
})
export type ResolvedSecrets = z.infer<typeof ResolvedSecrets>

/**
 * A secret named by a definition, and the hosts it is meant for, one of which must be in the secret's list. If there
 * are none, the check happens in each run.
 */
export const SecretTarget = z.strictObject({
  name: z.string().max(128),
  hosts: z.array(z.string().min(1).max(255)).max(50),
})
export type SecretTarget = z.infer<typeof SecretTarget>

export const maxSecretTargets = 1_000

/** Sent by a service to settings to check the secrets of a definition that a person saves. */
export const SecretTargetsQuestion = z.strictObject({
  /** The token of that person's request. */
  clientToken: z.string().max(8_192),
  environment: Environment,
  targets: z.array(SecretTarget).max(maxSecretTargets),
  /** Whether to add missing hosts, if the person is permitted to. */
  admit: z.boolean(),
})

/** Why the definition cannot use a secret, by index of the target. */
export const SecretTargetProblems = z.object({
  problems: z.array(
    z.object({
      target: z.int().min(0),
      code: z.enum(['unknown_secret', 'secret_host_not_allowed']),
      message: z.string(),
    }),
  ),
})
export type SecretTargetProblems = z.infer<typeof SecretTargetProblems>

/** Sent by a service to settings to query the rights of absent people in whose name it acts later. */
export const RightsQuestion = z.strictObject({
  workspaceId: z.string(),
  userIds: z.array(z.string().max(100)).max(200),
})

/** Current permissions of each user there, by id; users who are no active members are absent. */
export const Rights = z.object({
  permissions: z.record(z.string(), z.array(PermissionName)),
  /** Roles by user id. */
  roles: z.record(z.string(), z.string()).default({}),
})
export type Rights = z.infer<typeof Rights>

/** Asks which of these users are members of a workspace, and which of these roles it has. */
export const MembersQuestion = z.strictObject({
  workspaceId: z.string(),
  userIds: z.array(z.string().max(100)).max(200),
  roles: z.array(z.string().max(100)).max(200).default([]),
})

/** The users who are members (invited, active or suspended), and the existing roles (built-in or custom). */
export const KnownMembers = z.object({
  userIds: z.array(z.string()),
  roles: z.array(z.string()).default([]),
})

/** Sent by a service to settings to query the environments of a request's credential. */
export const EnvironmentScopeQuestion = z.strictObject({ tokenId: z.string().max(100) })

/** The environments a credential gives access to; `null` for all. */
export const EnvironmentScope = z.object({ environments: z.array(Environment).nullable() })
/** Asks how long workspaces keep their runs. */
export const RetentionQuestion = z.strictObject({ workspaceIds: z.array(z.string().max(100)).max(500) })

/** Days by workspace; workspaces without a setting are absent. */
export const ExecutionRetention = z.object({ days: z.record(z.string(), z.int().min(1)) })

/** The first workspace and its owner. */
export const Bootstrap = z.strictObject({
  workspaceName: z.string().trim().min(1).max(100),
  workspaceSlug: Slug,
  email: Credentials.shape.email,
  password: NewPassword,
  userName: z.string().trim().min(1).max(100),
  /**
   * How to handle an existing login with this email, which may belong to another person. `keep`:
   * it becomes the owner and keeps its password.
   */
  existingLogin: z.enum(['refuse', 'keep']).default('refuse'),
})
export type Bootstrap = z.infer<typeof Bootstrap>

export const Bootstrapped = z.object({ workspaceId: z.string(), userId: z.string() })
export type Bootstrapped = z.infer<typeof Bootstrapped>

/** A replica's demand for budgets shared by all replicas: see `LeaseRequest` in libs/runtime. */
export const BudgetLeases = z.strictObject({
  owner: z.string().min(1).max(300),
  asks: z
    .array(
      z.strictObject({
        name: z.string().max(100),
        holder: z.string().max(200),
        wanted: z.int().min(0),
        most: z.int().min(0),
        ms: z.int().min(1_000).max(86_400_000),
        windowed: z.boolean(),
      }),
    )
    .max(5_000),
})

/** In the order of the requests: the granted amount, and its validity in milliseconds. */
export const GrantedBudgets = z.object({
  leases: z.array(z.object({ granted: z.int().min(0), forMs: z.int().min(1) })),
})

/** Tokens a gateway has taken from shared buckets since its last report. */
export const RateSpends = z.strictObject({
  spends: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(300),
        spent: z.int().min(1),
        /** Period in which they were taken. */
        seconds: z.number().min(0),
        burst: z.number().positive(),
        perSecond: z.number().positive(),
      }),
    )
    .max(1_000),
})
export type RateSpends = z.infer<typeof RateSpends>

/** In the order of the spends: tokens left in each bucket, negative if it was overdrawn. */
export const SharedRates = z.object({ tokens: z.array(z.number()) })
