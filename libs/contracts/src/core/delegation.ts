import { z } from 'zod'
import { PermissionName } from './permission-name.js'
import { Environment, maxCallers } from './principal.js'

/** Sent by a service to settings during a person's request, to obtain a grant for acting in their name later. */
export const GrantRequest = z.strictObject({
  /** The token of the person's request, which proves that they called this service. */
  clientToken: z.string().max(8_192),
  /** Purpose of the grant, such as the id of a run; logged by the called service. */
  run: z.string().min(1).max(100),
  /** Limits the grant to these permissions; default: all permissions of the person in this workspace and environment. */
  permissions: z.array(PermissionName).optional(),
  /**
   * Environment the grant is valid in; must be one the person's key may access.
   * Default: the environment of the request.
   */
  environment: Environment.optional(),
  /** `null` for a standing grant, which ends when it is revoked, the person leaves, or the requesting key is revoked. */
  expiresInSeconds: z
    .int()
    .min(1)
    .max(90 * 86_400)
    .nullable(),
})
export type GrantRequest = z.input<typeof GrantRequest>

/** Stored with the run; useless without the key of the service it was issued to. */
export const Grant = z.object({ grant: z.string(), expiresAt: z.iso.datetime({ precision: 3 }).nullable() })
export type Grant = z.infer<typeof Grant>

/** Reported as missing if the API key by which a person granted their rights has ended. */
export const endedKey = 'api_key'

/** Maximum number of grants checked in one query. */
export const maxGrantsPerQuery = 100
export const GrantsQuery = z.strictObject({ grants: z.array(z.string().max(16_384)).max(maxGrantsPerQuery) })
/** Validity of each grant, in the order of the query. */
export const GrantValidity = z.object({ holding: z.array(z.boolean()) })

/** A person, and the session or API key they made a request with. */
export const GrantCaller = z.strictObject({ userId: z.string().max(100), tokenId: z.string().max(100) })
export type GrantCaller = z.infer<typeof GrantCaller>

export const DelegationRequest = z.strictObject({
  grant: z.string().max(8_192),
  /** The service to be called. */
  audience: z.string().max(100),
  /** The workflow that acts, which events then name as their actor; default: the person. */
  workflow: z.strictObject({ id: z.string().max(100), name: z.string().max(200) }).optional(),
  /** Limits the call to these permissions of the grant, if another principal caused it; default: all permissions. */
  permissions: z.array(z.string().max(100)).max(500).optional(),
  /** The callers on whose request the grant is used. They only narrow the token's rights, so they need no proof. */
  callers: z.array(GrantCaller).max(maxCallers).optional(),
  /** Whether the callers narrow both permissions and rows (the default), or rows only. */
  callerRights: z.enum(['permissions', 'rows']).optional(),
  /**
   * A grant of the person who uses the granted resource, created from their own request. The token then identifies that
   * person and has the permissions of `grant`; the row rules of both apply.
   */
  person: z.string().max(8_192).optional(),
})
export type DelegationRequest = z.infer<typeof DelegationRequest>

/** Revokes a standing grant that is no longer needed. */
export const GrantRevocation = z.strictObject({ grant: z.string().max(8_192) })

/** A token for calls to that service in the person's name, with the permissions they still have. */
export const DelegatedToken = z.object({ token: z.string() })
