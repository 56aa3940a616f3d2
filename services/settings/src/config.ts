import { availableParallelism } from 'node:os'
import { Credentials } from '@opsplane/contracts'
import { backendConfig, commaSeparated, masterKeyConfig, originSetting, parseConfig } from '@opsplane/runtime'
import { z } from 'zod'
import { isSender, isSmtpUrl } from './mail/smtp-settings.js'

const duration = (description: string) => z.coerce.number().int().min(1_000).meta({ description })

/** Reserves one core for other requests, so that a flood of logins does not starve them. */
const hashesAtOnce = Math.max(1, Math.min(2, availableParallelism() - 1))

const Domain = z
  .string()
  .regex(/^(?:[a-z0-9-]{1,63}\.)+[a-z0-9-]{2,63}$/, 'must be domains such as example.com')

const settings = backendConfig.extend({
  ...masterKeyConfig,
  ssoDomains: commaSeparated.default([]).pipe(z.array(Domain)).meta({
    description:
      'comma-separated e-mail domains whose people may become users by signing in with an identity provider',
  }),
  ssoAllowedCidrs: commaSeparated.default([]).meta({
    description: 'comma-separated private address blocks in which identity providers may be called',
  }),
  ssoDeniedCidrs: commaSeparated.default([]).meta({
    description:
      'comma-separated address blocks in which no identity provider may be located, such as the public addresses ' +
      'of the operator',
  }),
  ssoAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'allows identity providers over plain http: true, false, or loopback hosts only' }),
  ssoCaFile: z.string().optional().meta({
    description:
      'PEM file of certificate authorities accepted for identity providers in addition to the public ones',
  }),
  auditSigningKey: z.string().min(1).meta({
    description:
      'key that signs the ends of audit chains: Ed25519, PKCS#8 DER in base64; used for nothing else',
  }),
  sessionIdleMs: duration('a session ends after this time without a request').default(30 * 60_000),
  sessionLifetimeMs: duration('a session ends after this time in any case').default(8 * 3_600_000),
  tokenOverlapMs: duration('how long a rotated API key stays valid together with its successor').default(
    60_000,
  ),
  passwordHashConcurrency: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(hashesAtOnce)
    .meta({ description: 'number of password hashes computed at once; each uses 19 MiB and one core' }),
  passwordHashQueue: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(32)
    .meta({ description: 'number of logins that may wait for a password hash; further ones return 503' }),
  operators: commaSeparated
    .pipe(z.array(Credentials.shape.email))
    .default([])
    .meta({
      description:
        'comma-separated e-mail addresses of the operators of the installation; an address takes effect once it is ' +
        'proven, or if the bootstrap created it',
    }),
  publicOrigin: originSetting.optional().meta({
    description:
      'public origin of the installation: mails link to its pages, or without it show the request to send; ' +
      'passkeys are bound to its host and identity providers redirect browsers to it: without it both are disabled',
  }),
  smtpUrl: z
    .string()
    .refine(isSmtpUrl, 'must be smtp://[user:password@]host[:port] or smtps://…')
    .optional()
    .meta({ description: 'mail server; without it no mail is sent' }),
  smtpFrom: z
    .string()
    .refine(isSender, 'must be a mail address, or a name with the address in <>')
    .optional()
    .meta({ description: 'sender of mails; required together with SMTP_URL' }),
})

const config = settings.superRefine(({ smtpUrl, smtpFrom, ...keys }, context) => {
  if ([keys.servicePrivateKey, ...keys.previousServicePrivateKeys].includes(keys.auditSigningKey)) {
    const message = "must not be the service's key"
    context.addIssue({ code: 'custom', path: ['auditSigningKey'], message })
  }
  if ((smtpUrl === undefined) === (smtpFrom === undefined)) return
  const absent = smtpUrl === undefined ? 'smtpUrl' : 'smtpFrom'
  context.addIssue({ code: 'custom', path: [absent], message: 'is missing' })
})
export type SettingsConfig = z.infer<typeof config>

/** Throws ConfigError naming every variable that is missing or wrong. */
export function loadConfig(env: Record<string, string | undefined>): SettingsConfig {
  return parseConfig(config, env)
}
