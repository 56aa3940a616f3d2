import type { FormEvent } from 'react'
import { signInAddress } from '../place/session.js'
import { texts } from '../texts/en.js'
import { AnswerByFactor } from './factor-answer.js'
import { Action, Field, OtherWay, PasswordField } from './fields.js'
import { Refusal } from './refusal.js'
import { useSignIn } from './use-sign-in.js'
import { hasPasskeys } from './webauthn.js'

const words = texts.proof

/** The person whose session has ended. */
export interface Person {
  id: string
  email: string
}

/** The same person signs in again without leaving the page. */
export function SignInAgain({ person, onDone }: { person: Person; onDone(): void }) {
  const { challenge, error, isBusy, isOver, signIn, signInByPasskey } = useSignIn(({ user }) => {
    // Another person must not see the content of this page.
    if (user.id !== person.id) return location.assign('/')
    onDone()
  })
  const elsewhere = () => location.assign(signInAddress(`${location.pathname}${location.search}`, true))
  if (challenge !== undefined)
    return <AnswerByFactor challenge={challenge} error={error} isBusy={isBusy} onAnswer={signIn} />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const password = String(new FormData(event.currentTarget).get('password'))
    void signIn({ email: person.email, password })
  }
  return (
    <form className="steps" onSubmit={submit}>
      <Field
        label={texts.signIn.email}
        name="email"
        value={person.email}
        autoComplete="username"
        readOnly
        tabIndex={-1}
      />
      <PasswordField
        label={texts.signIn.password}
        name="password"
        autoComplete="current-password"
        required
        autoFocus
      />
      <Refusal
        error={error}
        words={{
          invalid_credentials: words.wrongPassword,
          ...(isOver && { invalid_token: texts.signIn.challengeOver }),
        }}
      />
      <Action isBusy={isBusy}>{texts.signIn.submit}</Action>
      {hasPasskeys() && <OtherWay onClick={() => void signInByPasskey()}>{texts.signIn.passkey}</OtherWay>}
      <OtherWay onClick={elsewhere}>{words.elsewhere}</OtherWay>
    </form>
  )
}
