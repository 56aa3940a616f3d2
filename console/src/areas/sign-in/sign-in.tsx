import { OpsplaneError } from '@opsplane/client'
import { type FormEvent, useEffect, useState } from 'react'
import { apiOf } from '../../api/api.js'
import { failureOf, fieldErrors } from '../../api/failure.js'
import { Mark } from '../../shell/mark.js'
import { texts } from '../../texts/en.js'

const words = texts.signIn

interface SignInProps {
  /** Where it leads. */
  to: string
  /** Somebody was signed in until now. */
  hasEnded: boolean
}

/** By e-mail address and password; then on to where somebody wanted to go. */
export function SignIn({ to, hasEnded }: SignInProps) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    document.title = `${words.submit} · ${texts.product}`
  }, [])
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const body = { email: String(given.get('email')), password: String(given.get('password')) }
    setBusy(true)
    setError(undefined)
    try {
      await apiOf().post('/auth/session', { body })
      location.assign(to)
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  const wrong = fieldErrors(error)
  return (
    <main className="sign-in">
      <form className="sign-in-form" onSubmit={submit}>
        <Mark size={32} />
        <h1>{words.title}</h1>
        {hasEnded && error === undefined && <p className="muted">{words.ended}</p>}
        <Field label={words.email} name="email" type="email" autoComplete="username" error={wrong.email} />
        <Field
          label={words.password}
          name="password"
          type="password"
          autoComplete="current-password"
          error={wrong.password}
        />
        {error !== undefined && Object.keys(wrong).length === 0 && <Refusal error={error} />}
        <button type="submit" className="sign-in-submit" disabled={isBusy}>
          {words.submit}
        </button>
      </form>
    </main>
  )
}

interface FieldProps {
  label: string
  name: 'email' | 'password'
  type: string
  autoComplete: string
  error: string | undefined
}

function Field({ label, name, error, ...input }: FieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        {...input}
        name={name}
        required
        // biome-ignore lint/a11y/noAutofocus: there is nothing else to do here.
        autoFocus={name === 'email'}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${name}-error`}
      />
      {error !== undefined && (
        <span id={`${name}-error`} className="small state-bad">
          {error}
        </span>
      )}
    </label>
  )
}

function Refusal({ error }: { error: unknown }) {
  if (error instanceof OpsplaneError && error.code === 'invalid_credentials')
    return (
      <p className="state-bad" role="alert">
        {words.wrong}
      </p>
    )
  const { title, help, requestId } = failureOf(error)
  return (
    <div className="problem" role="alert">
      <div>
        <strong>{title}</strong>
        <p className="muted">{help}</p>
        {requestId !== undefined && <code className="small muted">{requestId}</code>}
      </div>
    </div>
  )
}
