import { z } from 'zod'
import { PermissionName } from './permission-name.js'
import { Environment } from './principal.js'

/** Asks another service which resources of an environment have one of these names. */
export const NamesQuestion = z.strictObject({
  workspaceId: z.string().max(100),
  environment: Environment,
  names: z.array(z.string().max(500)).max(2_000),
})

/** The requested names that exist. */
export const KnownNames = z.object({ names: z.array(z.string()) })
export type KnownNames = z.infer<typeof KnownNames>

/** The requested names that are artifacts, by id or slug, with the permissions required to run each. */
export const KnownArtifacts = z.object({
  artifacts: z.array(z.object({ name: z.string(), permissions: z.array(PermissionName) })),
})
export type KnownArtifacts = z.infer<typeof KnownArtifacts>
