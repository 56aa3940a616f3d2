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
  address: z.string().meta({ description: 'IP address the login came from.' }),
  userAgent: z.string().meta({ description: 'As the client said at the login.' }),
  methods: z.array(SignInMethod).default([]).meta({
    description:
      'How the person proved who they are, in this order; empty for sessions of before it was kept.',
  }),
  createdAt: At,
  expiresAt: At.meta({ description: 'Absolute end; it also ends when it lies idle. Neither is an event.' }),
})
export type SessionState = z.infer<typeof SessionState>

export const SessionDetail = SessionState.extend({
  lastSeenAt: At.meta({ description: 'To the minute.' }),
  current: z.boolean().meta({ description: 'The one this request is made with.' }),
}).meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>

/** How long after a sign-in or step-up a browser session may perform operations that require a step-up. */
export const stepUpMs = 10 * 60_000

export const StepUpProof = z
  .union([
    z.strictObject({
      password: z.string().min(1).max(256).meta({ description: 'Of a login without factors, once more.' }),
    }),
    FactorCode,
    FactorAssertion,
  ])
  .meta({ id: 'StepUpProof', example: { password: 'correct horse battery staple' } })
export type StepUpProof = z.infer<typeof StepUpProof>

export const StepUp = z
  .object({ until: At.meta({ description: 'Until then operations that take a step-up go by it.' }) })
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
  failures: z.int().min(0).meta({ description: 'Wrong passwords, codes and passkeys.' }),
  refusals: z.int().min(0).meta({ description: 'Attempts that had to wait, and were not looked at.' }),
  addresses: z.array(z.string()).meta({ description: 'Where they came from: ten at most.' }),
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
