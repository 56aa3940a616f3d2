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
      'comma-separated domains of e-mail addresses whose people may become users by signing in by an identity provider',
  }),
  ssoAllowedCidrs: commaSeparated.default([]).meta({
    description:
      'comma-separated address blocks of identity providers that may be called although they are private',
  }),
  ssoDeniedCidrs: commaSeparated.default([]).meta({
    description:
      "comma-separated address blocks no identity provider may be in, such as the operator's own public ones",
  }),
  ssoAllowHttp: z
    .enum(['true', 'false', '1', '0', 'loopback'])
    .default('false')
    .transform((text) => (text === 'loopback' ? text : text === 'true' || text === '1'))
    .meta({ description: 'identity providers by plain http: true, false, or loopback hosts only' }),
  ssoCaFile: z.string().optional().meta({
    description:
      'PEM file of certificates that identity providers may use in addition to the public authorities',
  }),
  auditSigningKey: z.string().min(1).meta({
    description: 'signs the ends of audit chains: Ed25519, PKCS#8 DER in base64; nothing else uses it',
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
    .meta({ description: 'password hashes computed at once, 19 MiB and a core each' }),
  passwordHashQueue: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(32)
    .meta({ description: 'logins that may wait for one; more are answered 503' }),
  operators: commaSeparated.pipe(z.array(Credentials.shape.email)).default([]).meta({
    description:
      'e-mail addresses, comma-separated, of those who operate the installation; each once it is proven, or made by the bootstrap',
  }),
  publicOrigin: originSetting.optional().meta({
    description:
      'origin people use: mails lead to its pages, and show what to send without one; passkeys are bound to its host, and identity providers send browsers back to it: without one both are off',
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
    .meta({ description: 'sender of mails; goes with SMTP_URL' }),
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
