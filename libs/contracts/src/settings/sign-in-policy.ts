import { z } from 'zod'

const Role = z.string().min(1).max(50).meta({ example: 'admin' })

/** Which members need a second factor to enter a workspace. */
export const SignInPolicy = z
  .object({
    factorRequired: z.boolean().meta({ description: 'Whether every session requires a second factor.' }),
    factorRoles: z
      .array(Role)
      .meta({ description: 'Roles that require a second factor even if `factorRequired` is false.' }),
  })
  .meta({ id: 'SignInPolicy' })
export type SignInPolicy = z.infer<typeof SignInPolicy>

export const noSignInPolicy: SignInPolicy = { factorRequired: false, factorRoles: [] }

export const NewSignInPolicy = z
  .strictObject({
    factorRequired: SignInPolicy.shape.factorRequired,
    factorRoles: SignInPolicy.shape.factorRoles.max(100).default([]),
  })
  .meta({ id: 'NewSignInPolicy', example: { factorRequired: false, factorRoles: ['owner', 'admin'] } })
export type NewSignInPolicy = z.infer<typeof NewSignInPolicy>
