import { useRef, useState } from 'react'
import { toMessage } from '../expression/evaluate.js'
import { Failure } from './failure.js'

interface LoginProps {
  /** Whether the session of the current user has ended. */
  isBack: boolean
  /** Rejects with the error to show. */
  onLogin(email: string, password: string): Promise<void>
}

/** Login form. After a new login, input typed in the app is still there; e-mail and password are not stored. */
export function LoginForm({ isBack, onLogin }: LoginProps) {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const element = useRef<HTMLFormElement>(null)
  const submit = async (form: HTMLFormElement) => {
    if (isBusy) return
    const values = new FormData(form)
    setBusy(true)
    setProblem(undefined)
    try {
      await onLogin(String(values.get('email')), String(values.get('password')))
    } catch (error) {
      setProblem(toMessage(error))
      element.current?.querySelector<HTMLElement>('[name=password]')?.focus()
    } finally {
      setBusy(false)
    }
  }
  return (
    <main className="narrow">
      <form
        ref={element}
        className="card form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <h1>Log in</h1>
        {isBack && <p>Your session has ended. Log in again to go on: what you had typed is kept.</p>}
        <div className="field">
          <label htmlFor="email">E-mail</label>
          <input id="email" name="email" type="email" autoComplete="username" required />
        </div>
        <div className="field">
          <label htmlFor="password">Password</label>
          <input id="password" name="password" type="password" autoComplete="current-password" required />
        </div>
        {problem && <Failure message={problem} />}
        <button type="submit" className="primary" aria-disabled={isBusy}>
          {isBusy ? 'Logging in…' : 'Log in'}
        </button>
      </form>
    </main>
  )
}
