import { z } from 'zod'
import { Environment, Principal } from './principal.js'
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

export const SecretResolution = z.strictObject({
  workspaceId: z.string(),
  environment: Environment,
  names: z.array(z.string().max(100)).max(200),
})
export type SecretResolution = z.infer<typeof SecretResolution>

/** Values by name; names of no secret are absent. */
export const ResolvedSecrets = z.object({ values: z.record(z.string(), z.string()) })
export type ResolvedSecrets = z.infer<typeof ResolvedSecrets>

/** The first workspace and its owner. */
export const Bootstrap = z.strictObject({
  workspaceName: z.string().trim().min(1).max(100),
  workspaceSlug: Slug,
  email: Credentials.shape.email,
  password: NewPassword,
  userName: z.string().trim().min(1).max(100),
})
export type Bootstrap = z.infer<typeof Bootstrap>

export const Bootstrapped = z.object({ workspaceId: z.string(), userId: z.string() })
export type Bootstrapped = z.infer<typeof Bootstrapped>
