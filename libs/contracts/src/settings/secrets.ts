import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { SecretHosts } from '../core/secret-hosts.js'

const At = z.iso.datetime({ precision: 3 })
const Count = z.int().min(0)

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

export const Secret = SecretState.extend({ version: ResourceVersion }).meta({ id: 'Secret' })
export type Secret = z.infer<typeof Secret>

/** Uses are counted outside the event log: a crash loses those of the last minute. */
export const SecretUse = z.object({
  lastUsedAt: At.nullable().meta({
    description: 'Time of the last use, to the minute; `null` if no service has used the secret.',
  }),
  lastUsedBy: z
    .string()
    .nullable()
    .meta({ description: 'Service that last used the secret.', example: 'dispatcher' }),
  useCount: Count.meta({
    description: 'Number of times that services have requested the value; up to a minute old.',
  }),
})
export type SecretUse = z.infer<typeof SecretUse>

export const UsedSecret = Secret.extend(SecretUse.shape).meta({ id: 'UsedSecret' })
export type UsedSecret = z.infer<typeof UsedSecret>

/** One use of a secret: the consumer, the user, and the host the value was sent to. */
export const SecretGrantUse = z.object({
  consumer: z.string().meta({
    description: 'Resource that used the secret.',
    example: 'webhook/wh_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  }),
  userId: z
    .string()
    .meta({ description: 'User on whose behalf the consumer acted and who may use secrets.' }),
  host: z.string(),
  service: z.string(),
  lastUsedAt: At,
  useCount: Count,
})
export type SecretGrantUse = z.infer<typeof SecretGrantUse>

export const SecretDetail = UsedSecret.extend({
  uses: z
    .array(SecretGrantUse)
    .meta({ description: 'Latest 100 uses, most recent first; up to a minute old.' }),
}).meta({ id: 'SecretDetail' })
export type SecretDetail = z.infer<typeof SecretDetail>

const SecretValue = z.string().min(1).max(65_536)

export const NewSecret = z
  .strictObject({
    name: SecretName,
    value: SecretValue,
    hosts: SecretHosts.default([]).meta({
      description:
        'Only hosts to which the value is sent: names or addresses without a port, `*.example.com` for any one label ' +
        'in front, or `*` for every host. Default: none. A definition that uses the secret for a host adds this host ' +
        'when a user with `secrets:write` saves the definition.',
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
        'Hosts that replace all current hosts, including hosts added by definitions. If omitted, the current hosts ' +
        'remain.',
    }),
  })
  .meta({ id: 'SecretRotation', example: { value: 'the new secret' } })
export type SecretRotation = z.infer<typeof SecretRotation>
