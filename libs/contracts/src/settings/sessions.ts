import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { FactorAssertion, FactorCode, factorEvents } from './factors.js'

const At = z.iso.datetime({ precision: 3 })

/** Ways a person can prove their identity. */
export const SignInMethod = z.enum([
  'password',
  'invitation',
  'reset',
  'passkey',
  'totp',
  'recovery_code',
  'sso',
])
export type SignInMethod = z.infer<typeof SignInMethod>

/** A session as contained in events. */
export const SessionState = z.object({
  id: idSchema('session'),
  userId: idSchema('user'),
  address: z.string().meta({ description: 'IP address from which the user logged in.' }),
  userAgent: z.string().meta({ description: 'User agent stated by the client at login.' }),
  methods: z
    .array(SignInMethod)
    .default([])
    .meta({
      description:
        'Methods by which the user proved their identity, in this order; empty for sessions created before methods ' +
        'were recorded.',
    }),
  createdAt: At,
  expiresAt: At.meta({
    description: 'Latest end of the session; an idle session ends earlier. Neither emits an event.',
  }),
})
export type SessionState = z.infer<typeof SessionState>

export const SessionDetail = SessionState.extend({
  lastSeenAt: At.meta({ description: 'Time at which the session was last seen, to the minute.' }),
  current: z.boolean().meta({ description: 'Whether the session is the one used for this request.' }),
}).meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>

/** How long after a sign-in or step-up a browser session may perform operations that require a step-up. */
export const stepUpMs = 10 * 60_000

export const StepUpProof = z
  .union([
    z.strictObject({
      password: z
        .string()
        .min(1)
        .max(256)
        .meta({ description: 'Password of the login, entered again. Only for logins without factors.' }),
    }),
    FactorCode,
    FactorAssertion,
  ])
  .meta({ id: 'StepUpProof', example: { password: 'correct horse battery staple' } })
export type StepUpProof = z.infer<typeof StepUpProof>

export const StepUp = z
  .object({
    until: At.meta({ description: 'Time until which operations that require a step-up are allowed.' }),
  })
  .meta({ id: 'StepUp', example: { until: '2026-03-02T10:10:00.000Z' } })

/**
 * `displaced`: the person has logged in too often since. `provider_revoked`: the identity provider was disabled or
 * removed. `provider_logout`: the provider reported that the person logged out there.
 */
export const SessionEndReason = z.enum([
  'logout',
  'ended_by_user',
  'ended_by_admin',
  'password_changed',
  'password_reset',
  'factor_added',
  'factor_removed',
  'displaced',
  'provider_revoked',
  'provider_logout',
])
export type SessionEndReason = z.infer<typeof SessionEndReason>

/** Failed logins since the last report. */
export const LoginFailures = z.object({
  id: idSchema('user'),
  failures: z.int().min(0).meta({ description: 'Number of wrong passwords, codes and passkeys.' }),
  refusals: z.int().min(0).meta({ description: 'Number of attempts that had to wait and were not checked.' }),
  addresses: z.array(z.string()).meta({ description: 'IP addresses of the attempts, at most ten.' }),
  from: At,
  to: At,
})
export type LoginFailures = z.infer<typeof LoginFailures>

export const sessionEvents = {
  ...factorEvents,
  'session.started': resourceEvent(
    SessionState,
    'A person has signed in. Emitted in the first 20 workspaces they can enter.',
  ),
  'session.ended': resourceEvent(
    SessionState,
    'A session was ended, by the user, an admin or the platform; not when it has only expired.',
    { reason: SessionEndReason },
  ),
  'session.stepped_up': resourceEvent(
    SessionState,
    'A person has proved their identity again (step-up) in a browser session.',
  ),
  'login.failed': resourceEvent(
    LoginFailures,
    'Attempts to log in as this user have failed: the first at once, then at most one event a minute of each replica.',
  ),
} satisfies Record<string, EventDefinition>
