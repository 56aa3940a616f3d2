import { z } from 'zod'
import { PermissionName } from './permission-name.js'
import { Environment, maxCallers } from './principal.js'

/** What a service asks settings in a request of a person, to go on in their name afterwards. */
export const GrantRequest = z.strictObject({
  /** The token the request came with, which proves that the person has asked this service. */
  clientToken: z.string().max(8_192),
  /** What it is for, such as the id of a run; logged by the service that is called. */
  run: z.string().min(1).max(100),
  /** No more than these; all the person has in this workspace and environment unless given. */
  permissions: z.array(PermissionName).optional(),
  /** Where it holds, unless in the environment of the request: one that the person's key opens. */
  environment: Environment.optional(),
  /** Null for a standing grant: until it is revoked, the person has left, or the key that has asked is revoked. */
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

/** What is missing where the API key has ended by which a person gave something their rights. */
export const endedKey = 'api_key'

/** Of how many grants a service asks at once. */
export const maxGrantsPerQuery = 100
export const GrantsQuery = z.strictObject({ grants: z.array(z.string().max(16_384)).max(maxGrantsPerQuery) })
/** In the order they were asked for. */
export const GrantValidity = z.object({ holding: z.array(z.boolean()) })

/** A person, and the session or API key by which they have asked for something. */
export const GrantCaller = z.strictObject({ userId: z.string().max(100), tokenId: z.string().max(100) })
export type GrantCaller = z.infer<typeof GrantCaller>

export const DelegationRequest = z.strictObject({
  grant: z.string().max(8_192),
  /** The service that is to be called. */
  audience: z.string().max(100),
  /** The workflow that acts, which events then name as their actor; the person unless given. */
  workflow: z.strictObject({ id: z.string().max(100), name: z.string().max(200) }).optional(),
  /** Only these of the grant's permissions, where another principal caused the call; all of them if absent. */
  permissions: z.array(z.string().max(100)).max(500).optional(),
  /** On whose request the grant is used. They only narrow what the token allows, so nothing has to prove them. */
  callers: z.array(GrantCaller).max(maxCallers).optional(),
  /** Whether the callers narrow the permissions and the rows (the default), or the rows alone. */
  callerRights: z.enum(['permissions', 'rows']).optional(),
  /**
   * A grant of the person who uses what the grant carries, made from their own request. The token speaks as that person with
   * the permissions of `grant`, and the row rules of both apply.
   */
  person: z.string().max(8_192).optional(),
})
export type DelegationRequest = z.infer<typeof DelegationRequest>

/** A standing grant that is no longer needed. */
export const GrantRevocation = z.strictObject({ grant: z.string().max(8_192) })

/** A token for calls to that service in the person's name, with what they may still do. */
export const DelegatedToken = z.object({ token: z.string() })
