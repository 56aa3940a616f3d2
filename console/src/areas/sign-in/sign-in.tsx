import type { FormEvent } from 'react'
import { fieldErrors } from '../../api/failure.js'
import { Action, Field, OtherWay, PasswordField } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { useSignIn } from '../../proof/use-sign-in.js'
import { hasPasskeys } from '../../proof/webauthn.js'
import { texts } from '../../texts/en.js'
import { ChallengeFrame, SignInFrame } from './frame.js'
import { SingleSignOn } from './single-sign-on.js'

const words = texts.signIn

interface SignInProps {
  /** Address to open after the sign-in. */
  to: string
  /** Whether a session has just ended. */
  hasEnded: boolean
  /** Sign-out page of the identity provider, if the person has just signed out here and is still signed in there. */
  providerSignOut: string | undefined
  /** The workspace to enter, if known. */
  workspace: string | undefined
  /** Reason why single sign-on failed. */
  ssoRefusal: string | undefined
}

/** Signs in by password and second factor, by passkey, or by single sign-on, and then opens the requested address. */
export function SignIn({ to, hasEnded, providerSignOut, workspace, ssoRefusal }: SignInProps) {
  const { challenge, error, isBusy, isOver, signIn, signInByPasskey, restart } = useSignIn(() =>
    location.assign(to),
  )
  if (challenge !== undefined)
    return (
      <ChallengeFrame challenge={challenge} error={error} isBusy={isBusy} onAnswer={signIn}>
        <OtherWay onClick={restart}>{words.back}</OtherWay>
      </ChallengeFrame>
    )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const formData = new FormData(event.currentTarget)
    void signIn({ email: String(formData.get('email')), password: String(formData.get('password')) })
  }
  const wrong = fieldErrors(error)
  return (
    <SignInFrame title={words.title} help={hasEnded && error === undefined ? words.ended : undefined}>
      {providerSignOut !== undefined && (
        <p className="muted">
          {words.sso.stillSignedIn}{' '}
          <a className="link link-in-text" href={providerSignOut}>
            {words.sso.signOut}
          </a>
        </p>
      )}
      {ssoRefusal !== undefined && error === undefined && (
        <div className="problem" role="alert">
          <div>
            <strong>{words.sso.refused}</strong>
            <p className="muted">{ssoRefusal}</p>
          </div>
        </div>
      )}
      <form className="steps" onSubmit={submit}>
        <Field
          label={words.email}
          name="email"
          type="email"
          autoComplete="username"
          error={wrong.email}
          required
          autoFocus
        />
        <PasswordField
          label={words.password}
          name="password"
          autoComplete="current-password"
          error={wrong.password}
          required
        />
        <Refusal
          error={error}
          words={{ invalid_credentials: words.wrong, ...(isOver && { invalid_token: words.challengeOver }) }}
        />
        <Action isBusy={isBusy}>{words.submit}</Action>
        <a className="link other-way" href="/reset">
          {words.forgotten}
        </a>
      </form>
      <section className="steps other-ways" aria-label={words.other}>
        {hasPasskeys() && (
          <Action kind="plain" isBusy={isBusy} onClick={signInByPasskey}>
            {words.passkey}
          </Action>
        )}
        <SingleSignOn workspace={workspace} to={to} />
      </section>
    </SignInFrame>
  )
}
