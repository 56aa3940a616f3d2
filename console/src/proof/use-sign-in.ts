import { type components, OpsplaneError } from '@opsplane/client'
import { useState } from 'react'
import { type FactorChallenge, provingApi } from '../api/api.js'
import { requestPasskey } from './webauthn.js'

type Schemas = components['schemas']
type Proof = Schemas['BrowserSignIn']
export type SignedIn = Schemas['BrowserSession']

/** The challenge of an error that requires a second factor. */
export function challengeIn(error: unknown): FactorChallenge | undefined {
  if (!(error instanceof OpsplaneError) || error.code !== 'factor_required') return undefined
  return error.details[0]?.params as FactorChallenge | undefined
}

/** Signs in by any proof of identity, and prompts for a second factor if the login has one. */
export function useSignIn(onDone: (session: SignedIn) => void) {
  const [challenge, setChallenge] = useState<FactorChallenge>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [isOver, setOver] = useState(false)
  const run = async (prove: () => Promise<Proof>) => {
    setBusy(true)
    setError(undefined)
    setOver(false)
    try {
      const { data } = await provingApi().post('/auth/session', { body: await prove() })
      onDone(data)
    } catch (failure) {
      setBusy(false)
      const nextChallenge = challengeIn(failure)
      if (nextChallenge !== undefined) return setChallenge(nextChallenge)
      // An expired challenge cannot be answered, so the sign-in starts again.
      const isChallengeOver = challenge !== undefined && codeOf(failure) === 'invalid_token'
      if (isChallengeOver) setChallenge(undefined)
      setOver(isChallengeOver)
      setError(failure)
    }
  }
  return {
    challenge,
    error,
    isBusy,
    /** The challenge has expired, or was answered incorrectly too often. */
    isOver,
    signIn: (proof: Proof) => run(async () => proof),
    /** By a passkey that identifies its owner. */
    signInByPasskey: () =>
      run(async () => {
        const { data } = await provingApi().post('/auth/passkey/options')
        return { challenge: data.challenge, assertion: await requestPasskey(data.publicKey) }
      }),
    restart: () => {
      setChallenge(undefined)
      setError(undefined)
    },
  }
}
const codeOf = (error: unknown) => (error instanceof OpsplaneError ? error.code : undefined)

export type SigningIn = ReturnType<typeof useSignIn>
