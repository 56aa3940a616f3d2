import { type components, OpsplaneError } from '@opsplane/client'
import { type FormEvent, useCallback, useEffect, useState } from 'react'
import { type FactorChallenge, provingApi } from '../api/api.js'
import { texts } from '../texts/en.js'
import { AnswerByFactor } from './factor-answer.js'
import { Action, PasswordField } from './fields.js'
import { Refusal } from './refusal.js'

type StepUpProof = components['schemas']['StepUpProof']
const words = texts.proof

interface StepUpProps {
  onDone(): void
  /** Called if the session itself has ended. */
  onSignedOut?(): void
}

/** Step-up: the person proves their identity again by a factor, or by password if the login has none. */
export function StepUp({ onDone, onSignedOut }: StepUpProps) {
  const [challenge, setChallenge] = useState<FactorChallenge>()
  const [hasPassword, setHasPassword] = useState(false)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const begin = useCallback(async () => {
    try {
      setChallenge((await provingApi().post('/auth/step-up/options')).data)
    } catch (failure) {
      if (failure instanceof OpsplaneError && failure.status === 401) return onSignedOut?.()
      // A login without a factor uses the password.
      if (failure instanceof OpsplaneError && failure.code === 'conflict') return setHasPassword(true)
      setError(failure)
    }
  }, [onSignedOut])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a challenge is requested only once.
  useEffect(() => void begin(), [])
  const prove = async (body: StepUpProof) => {
    setBusy(true)
    setError(undefined)
    try {
      await provingApi().post('/auth/step-up', { body })
      onDone()
    } catch (failure) {
      setError(failure)
      // The challenge has expired or was answered too often, so a new one is requested.
      if (failure instanceof OpsplaneError && failure.code === 'invalid_token') await begin()
    }
    setBusy(false)
  }
  if (challenge !== undefined)
    return (
      <AnswerByFactor
        challenge={challenge}
        error={error}
        isBusy={isBusy}
        onAnswer={(answer) => void prove(answer)}
      />
    )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    void prove({ password: String(new FormData(event.currentTarget).get('password')) })
  }
  return (
    <form className="steps" onSubmit={submit}>
      {hasPassword && (
        <PasswordField
          label={texts.signIn.password}
          name="password"
          autoComplete="current-password"
          required
          autoFocus
        />
      )}
      <Refusal error={error} words={{ invalid_credentials: words.wrongPassword }} />
      {hasPassword && <Action isBusy={isBusy}>{words.confirm}</Action>}
    </form>
  )
}
