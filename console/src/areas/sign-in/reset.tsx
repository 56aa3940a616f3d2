import { type FormEvent, useState } from 'react'
import { provingApi } from '../../api/api.js'
import { fieldErrors } from '../../api/failure.js'
import { Action, Field, PasswordField } from '../../proof/fields.js'
import { Refusal } from '../../proof/refusal.js'
import { useSignIn } from '../../proof/use-sign-in.js'
import { texts } from '../../texts/en.js'
import { ChallengeFrame, SignInFrame } from './frame.js'

const words = texts.signIn

/** With a token from a link: sets a new password and signs the person in. Without a token: requests a link by mail. */
export function Reset({ token }: { token: string | undefined }) {
  return token === undefined ? <RequestLinkForm /> : <SetPassword token={token} />
}

function RequestLinkForm() {
  const [sentTo, setSentTo] = useState<string>()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const requestLink = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const email = String(new FormData(event.currentTarget).get('email'))
    setBusy(true)
    setError(undefined)
    try {
      await provingApi().post('/auth/password/reset', { body: { email } })
      setSentTo(email)
    } catch (failure) {
      setError(failure)
    }
    setBusy(false)
  }
  if (sentTo !== undefined)
    return (
      <SignInFrame title={words.reset.sent} help={words.reset.sentHelp(sentTo)}>
        <BackToSignIn />
      </SignInFrame>
    )
  return (
    <SignInFrame title={words.reset.title} help={words.reset.help}>
      <form className="steps" onSubmit={requestLink}>
        <Field
          label={words.email}
          name="email"
          type="email"
          autoComplete="username"
          error={fieldErrors(error).email}
          required
          autoFocus
        />
        <Refusal error={error} words={{ no_mail_server: words.reset.noMail }} />
        <Action isBusy={isBusy}>{words.reset.ask}</Action>
      </form>
      <BackToSignIn />
    </SignInFrame>
  )
}

function SetPassword({ token }: { token: string }) {
  const { challenge, error, isBusy, isOver, signIn } = useSignIn(() => location.assign('/'))
  if (challenge !== undefined)
    return <ChallengeFrame challenge={challenge} error={error} isBusy={isBusy} onAnswer={signIn} />
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const newPassword = String(new FormData(event.currentTarget).get('newPassword'))
    void signIn({ resetToken: token, newPassword })
  }
  // The password is already set at this point.
  const over = isOver ? words.challengeOver : words.reset.over
  return (
    <SignInFrame title={words.reset.title}>
      <form className="steps" onSubmit={submit}>
        <PasswordField
          label={words.newPassword}
          help={words.reset.rule}
          name="newPassword"
          autoComplete="new-password"
          minLength={12}
          maxLength={256}
          error={fieldErrors(error).newPassword}
          required
          autoFocus
        />
        <Refusal error={error} words={{ invalid_token: over }} />
        <Action isBusy={isBusy}>{words.reset.submit}</Action>
        {error !== undefined && (
          <a className="link other-way" href="/reset">
            {words.reset.again}
          </a>
        )}
      </form>
      <BackToSignIn />
    </SignInFrame>
  )
}

export const BackToSignIn = () => (
  <a className="link other-way" href="/sign-in">
    {words.back}
  </a>
)
