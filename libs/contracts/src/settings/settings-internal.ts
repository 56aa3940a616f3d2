import { z } from 'zod'
import { PermissionName } from '../core/permission-name.js'
import { Environment, Principal } from '../core/principal.js'
import { Credentials, NewPassword, Slug } from './settings.js'

/** What the gateway asks settings about a token. */
export const TokenVerification = z.strictObject({
  token: z.string().max(500),
  /** Slug; absent on the few routes that work outside a workspace. */
  workspace: z.string().max(100).optional(),
  environment: Environment,
})
export type TokenVerification = z.infer<typeof TokenVerification>

/** Who the token acts as, and when it stops being valid (null: never). */
export const VerifiedToken = z.object({
  principal: Principal,
  expiresAt: z.iso.datetime({ precision: 3 }).nullable(),
})
export type VerifiedToken = z.infer<typeof VerifiedToken>

/** The tokens of answers that go on, of which the gateway asks once a second whether they still hold. */
export const TokenConfirmation = z.strictObject({ questions: z.array(TokenVerification).max(1_000) })

export const ConfirmedTokens = z.object({
  /** Lists of permissions, each once. */
  permissions: z.array(z.array(z.string())),
  /** For each question the place of what the token allows in `permissions`; null where it is refused. */
  answers: z.array(z.int().min(0).nullable()),
})
export type ConfirmedTokens = z.infer<typeof ConfirmedTokens>

/** All secrets one request can be made with, and the most characters their values have together. */
export const maxSecretsAtOnce = 50
export const maxSecretsLength = 64 * 1024

/** What a service asks settings when it is about to send secrets somewhere. */
export const SecretResolution = z.strictObject({
  workspaceId: z.string(),
  environment: Environment,
  names: z.array(z.string().max(128)).max(maxSecretsAtOnce),
  /** The one host the values are sent to, as `hostOfUrl` has it. */
  host: z.string().min(1).max(255),
  /** For whom: the user must be allowed `secrets:use` at this moment. */
  userId: z.string().max(100),
  /** What uses them, as kind and id: `webhook/wh_…`. */
  consumer: z.string().max(200),
})
export type SecretResolution = z.infer<typeof SecretResolution>

/** Why a secret that is there is not given out. */
export const SecretRefusal = z.enum(['host_not_allowed', 'permission_missing', 'too_large'])
export type SecretRefusal = z.infer<typeof SecretRefusal>

/** By name; names of no secret are absent in both. */
export const ResolvedSecrets = z.object({
  values: z.record(z.string(), z.string()),
  refused: z.record(z.string(), SecretRefusal),
})
export type ResolvedSecrets = z.infer<typeof ResolvedSecrets>

/** A secret that a definition names, and the hosts it is meant for, one of which must be among the secret's; none: a run decides. */
export const SecretTarget = z.strictObject({
  name: z.string().max(128),
  hosts: z.array(z.string().min(1).max(255)).max(50),
})
export type SecretTarget = z.infer<typeof SecretTarget>

export const maxSecretTargets = 1_000

/** What a service asks settings about the secrets of a definition that a person saves. */
export const SecretTargetsQuestion = z.strictObject({
  /** The token their request came with. */
  clientToken: z.string().max(8_192),
  environment: Environment,
  targets: z.array(SecretTarget).max(maxSecretTargets),
  /** Adds the hosts that are missing, where the person may. */
  admit: z.boolean(),
})

/** Why the definition cannot use the secret: by the index of the target. */
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

/** What a service asks settings about people who are not there: those in whose name it acts later. */
export const RightsQuestion = z.strictObject({
  workspaceId: z.string(),
  userIds: z.array(z.string().max(100)).max(200),
})

/** What each of them may do there at this moment, by id; those who are no active members are absent. */
export const Rights = z.object({
  permissions: z.record(z.string(), z.array(PermissionName)),
  /** Their roles. */
  roles: z.record(z.string(), z.string()).default({}),
})
export type Rights = z.infer<typeof Rights>

/** Which of these users are members of a workspace, and which of these roles does it have? */
export const MembersQuestion = z.strictObject({
  workspaceId: z.string(),
  userIds: z.array(z.string().max(100)).max(200),
  roles: z.array(z.string().max(100)).max(200).default([]),
})

/** Those who are, invited, active or suspended; and those it has, built in or of its own. */
export const KnownMembers = z.object({
  userIds: z.array(z.string()),
  roles: z.array(z.string()).default([]),
})

/** What a service asks settings about the credential of a request. */
export const EnvironmentScopeQuestion = z.strictObject({ tokenId: z.string().max(100) })

/** The environments a credential opens; null for all. */
export const EnvironmentScope = z.object({ environments: z.array(Environment).nullable() })
/** How long do workspaces keep their runs? */
export const RetentionQuestion = z.strictObject({ workspaceIds: z.array(z.string().max(100)).max(500) })

/** Days, by workspace; those there are none of are absent. */
export const ExecutionRetention = z.object({ days: z.record(z.string(), z.int().min(1)) })

/** The first workspace and its owner. */
export const Bootstrap = z.strictObject({
  workspaceName: z.string().trim().min(1).max(100),
  workspaceSlug: Slug,
  email: Credentials.shape.email,
  password: NewPassword,
  userName: z.string().trim().min(1).max(100),
  /** What to do about a login with this e-mail: it may belong to another person. `keep`: it becomes the owner, with its password. */
  existingLogin: z.enum(['refuse', 'keep']).default('refuse'),
})
export type Bootstrap = z.infer<typeof Bootstrap>

export const Bootstrapped = z.object({ workspaceId: z.string(), userId: z.string() })
export type Bootstrapped = z.infer<typeof Bootstrapped>

/** What a replica wants of budgets that all replicas share: see `LeaseRequest` in libs/runtime. */
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

/** In the order of the asks: what may be used, and for how many milliseconds. */
export const GrantedBudgets = z.object({
  leases: z.array(z.object({ granted: z.int().min(0), forMs: z.int().min(1) })),
})

/** What a gateway has taken of buckets that all gateways share, since it said so last. */
export const RateSpends = z.strictObject({
  spends: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(300),
        spent: z.int().min(1),
        /** Over how long. */
        seconds: z.number().min(0),
        burst: z.number().positive(),
        perSecond: z.number().positive(),
      }),
    )
    .max(1_000),
})
export type RateSpends = z.infer<typeof RateSpends>

/** In the order of the spends: what each bucket has left, below zero where more was taken than there was. */
export const SharedRates = z.object({ tokens: z.array(z.number()) })
