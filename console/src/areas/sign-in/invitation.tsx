import { type FormEvent, useState } from 'react'
import { fieldErrors } from '../../api/failure.js'
import { Action, Field, PasswordField } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { useSignIn } from '../../proof/use-sign-in.js'
import { texts } from '../../texts/en.js'
import { ChallengeFrame, SignInFrame } from './frame.js'
import { BackToSignIn } from './reset.js'

const words = texts.signIn

/** Accepts an invitation to a workspace, with an existing login or a new one. */
export function Invitation({ token }: { token: string | undefined }) {
  const [isKnown, setKnown] = useState(false)
  const { challenge, error, isBusy, isOver, signIn } = useSignIn(() => location.assign('/'))
  if (token === undefined)
    return (
      <SignInFrame title={words.invitation.missing} help={words.invitation.missingHelp}>
        <BackToSignIn />
      </SignInFrame>
    )
  if (challenge !== undefined)
    return <ChallengeFrame challenge={challenge} error={error} isBusy={isBusy} onAnswer={signIn} />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const formData = new FormData(event.currentTarget)
    const name = String(formData.get('name') ?? '').trim()
    void signIn({ token, password: String(formData.get('password')), ...(name !== '' && { name }) })
  }
  const wrong = fieldErrors(error)
  const over = isOver ? words.challengeOver : `${words.invitation.over} ${words.invitation.overHelp}`
  return (
    <SignInFrame title={words.invitation.title}>
      <form className="steps" onSubmit={submit}>
        <div className="choice" role="radiogroup" aria-label={words.invitation.title}>
          <Choice isChosen={!isKnown} onChoose={() => setKnown(false)} label={words.invitation.isNew} />
          <Choice isChosen={isKnown} onChoose={() => setKnown(true)} label={words.invitation.isKnown} />
        </div>
        {!isKnown && (
          <Field
            label={words.name}
            name="name"
            autoComplete="name"
            maxLength={100}
            error={wrong.name}
            required
          />
        )}
        <PasswordField
          key={String(isKnown)}
          label={words.password}
          help={isKnown ? words.invitation.knownHelp : words.reset.rule}
          name="password"
          autoComplete={isKnown ? 'current-password' : 'new-password'}
          minLength={12}
          maxLength={256}
          error={wrong.password}
          required
        />
        <Refusal
          error={error}
          words={{ invalid_token: over, invalid_credentials: texts.proof.wrongPassword }}
        />
        <Action isBusy={isBusy}>{words.invitation.submit}</Action>
      </form>
    </SignInFrame>
  )
}

function Choice({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose(): void }) {
  return (
    <label className="choice-option">
      <input type="radio" name="login" checked={isChosen} onChange={onChoose} />
      {label}
    </label>
  )
}
