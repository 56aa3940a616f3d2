import type { components } from '@opsplane/client'
import { type FormEvent, useRef, useState } from 'react'
import type { FactorChallenge } from '../api/api.js'
import { texts } from '../texts/en.js'
import { Action, Field, OtherWay, TotpField } from './fields.js'
import { Refusal } from './refusal.js'
import { hasPasskeys, requestPasskey } from './webauthn.js'

type Schemas = components['schemas']
export type FactorAnswer = Schemas['FactorCode'] | Schemas['FactorAssertion']
type Method = FactorChallenge['methods'][number]

const words = texts.proof
/** Most secure first. */
const inOrder = ['passkey', 'totp', 'recovery_code'] as const satisfies Method[]
const names: Record<Method, string> = {
  passkey: words.usePasskey,
  totp: words.useTotp,
  recovery_code: words.useRecovery,
}

interface FactorAnswerProps {
  challenge: FactorChallenge
  error: unknown
  isBusy: boolean
  onAnswer(answer: FactorAnswer): void
}

/** Answers a challenge with one of the login's factors. */
export function AnswerByFactor({ challenge, error, isBusy, onAnswer }: FactorAnswerProps) {
  const ways = inOrder.filter(
    (method) => challenge.methods.includes(method) && (method !== 'passkey' || hasPasskeys()),
  )
  const [chosen, setChosen] = useState<Method>()
  const [unused, setUnused] = useState<unknown>()
  const form = useRef<HTMLFormElement>(null)
  const way = chosen ?? ways[0] ?? 'recovery_code'
  const choose = (method: Method) => {
    setUnused(undefined)
    setChosen(method)
  }
  const answerByPasskey = async () => {
    if (challenge.passkey === null) return
    setUnused(undefined)
    try {
      onAnswer({ challenge: challenge.challenge, assertion: await requestPasskey(challenge.passkey) })
    } catch (failure) {
      setUnused(failure)
    }
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (way === 'passkey') return void answerByPasskey()
    const code = String(new FormData(event.currentTarget).get('code')).trim()
    onAnswer({ challenge: challenge.challenge, code })
  }
  return (
    <form ref={form} className="steps" onSubmit={submit}>
      {way === 'passkey' && <p className="muted">{words.passkeyHelp}</p>}
      {way === 'totp' && (
        <TotpField
          label={words.code}
          name="code"
          onComplete={() => form.current?.requestSubmit()}
          autoFocus
        />
      )}
      {way === 'recovery_code' && (
        <Field
          label={words.recoveryCode}
          help={words.recoveryHelp}
          name="code"
          autoComplete="off"
          spellCheck={false}
          className="field-code"
          maxLength={50}
          required
          autoFocus
        />
      )}
      <Refusal error={unused ?? error} words={{ invalid_credentials: words.wrongCode }} />
      <Action isBusy={isBusy} hasFocus={way === 'passkey'}>
        {way === 'passkey' ? words.usePasskey : words.confirm}
      </Action>
      {ways
        .filter((method) => method !== way)
        .map((method) => (
          <OtherWay key={method} onClick={() => choose(method)}>
            {names[method]}
          </OtherWay>
        ))}
    </form>
  )
}
