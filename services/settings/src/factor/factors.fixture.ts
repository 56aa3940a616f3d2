import {
  ErrorEnvelope,
  Factor,
  FactorChallenge,
  PasskeyEnrolment,
  RecoveryCodes,
  sessionCookieHeader,
  TotpEnrolment,
} from '@opsplane/contracts'
import { type ApiClient, type ApiReply, type Authenticator, totpCode } from '@opsplane/testing'
import { password, type Settings } from '../settings.fixture.js'

export const stepMs = 30_000

/** Common operations of tests of second factors. */
export function createFactorClient(settings: Settings) {
  let networks = 0
  /** A different address each time, so that no test is throttled for the failures of another. */
  const elsewhere = () => ({ 'x-forwarded-for': `198.19.${++networks >> 8}.${networks & 255}` })
  const nowMs = () => Date.parse(settings.clock.now())

  const login = (email: string): Promise<ApiReply> =>
    settings.internal.post('/auth/token', { email, password }, elsewhere())
  const answer = (body: object, path = '/auth/token', headers: Record<string, string> = elsewhere()) =>
    settings.internal.post(path, body, headers)

  return {
    elsewhere,
    nowMs,
    login,
    answer,
    /** The challenge in an error response. */
    challengeIn(reply: ApiReply): FactorChallenge {
      const { error } = ErrorEnvelope.parse(JSON.parse(reply.text))
      if (error.code !== 'factor_required') throw new Error(`no challenge in ${reply.text}`)
      return FactorChallenge.parse(error.details[0]?.params)
    },
    tokenIn: ({ headers }: ApiReply): string => headers.get(sessionCookieHeader)?.split(' ')[0] ?? '',

    /** Adds and confirms an authenticator app; later codes must be of later time steps. */
    async totp(api: ApiClient): Promise<{ id: string; code(): string }> {
      const { id, secret } = (await api.post('/auth/factors/totp', { name: 'App' })).data(TotpEnrolment)
      const code = () => totpCode(secret, nowMs())
      const confirmed = await api.post('/auth/factors/totp/confirm', { id, code: code() })
      confirmed.data(Factor)
      settings.clock.advance(stepMs)
      return { id, code }
    },

    async passkey(api: ApiClient, authenticator: Authenticator): Promise<Factor> {
      const { challenge, publicKey } = (await api.post('/auth/factors/passkeys/options')).data(
        PasskeyEnrolment,
      )
      const credential = authenticator.create(publicKey)
      return (await api.post('/auth/factors/passkeys', { challenge, name: 'Key', credential })).data(Factor)
    },

    recoveryCodes: async (api: ApiClient): Promise<string[]> =>
      (await api.post('/auth/recovery-codes')).data(RecoveryCodes).codes,
  }
}
