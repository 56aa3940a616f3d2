import { type InputHTMLAttributes, type ReactNode, useId, useState } from 'react'
import { texts } from '../texts/en.js'

const words = texts.proof

interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'children'> {
  label: string
  name: string
  /** Validation error of the field. */
  error?: string | undefined
  help?: ReactNode
  /** Shown inside the field, at its end. */
  end?: ReactNode
}

/** A text field with label, help text and error. */
export function Field({ label, error, help, end, ...input }: FieldProps) {
  const id = useId()
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <span className="field-line">
        <input
          {...input}
          id={id}
          aria-invalid={error !== undefined}
          aria-describedby={described === '' ? undefined : described}
        />
        {end}
      </span>
      {help && (
        <span id={`${id}-help`} className="small muted">
          {help}
        </span>
      )}
      {error !== undefined && (
        <span id={`${id}-error`} className="small state-bad">
          {error}
        </span>
      )}
    </div>
  )
}

/** A password field whose content can be shown. */
export function PasswordField(props: Omit<FieldProps, 'type' | 'end'>) {
  const [isShown, setShown] = useState(false)
  const turn = (
    <button type="button" className="field-turn" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
      {isShown ? words.hide : words.show}
    </button>
  )
  return <Field {...props} type={isShown ? 'text' : 'password'} end={turn} />
}

/** The six-digit code of an authenticator app; `onComplete` is called after the last digit. */
export function TotpField({ onComplete, ...props }: Omit<FieldProps, 'type'> & { onComplete?(): void }) {
  return (
    <Field
      {...props}
      className="field-code"
      autoComplete="one-time-code"
      inputMode="numeric"
      pattern="[0-9]{6}"
      maxLength={6}
      required
      onInput={({ currentTarget: { value } }) => {
        if (/^\d{6}$/.test(value)) onComplete?.()
      }}
    />
  )
}

interface ActionProps {
  children: ReactNode
  isBusy?: boolean
  kind?: 'main' | 'plain' | 'danger'
  /** Without it, the button submits the form. */
  onClick?: (() => void) | undefined
  hasFocus?: boolean
}

/** A button as wide as its container. */
export function Action({ children, isBusy = false, kind = 'main', onClick, hasFocus }: ActionProps) {
  return (
    <button
      type={onClick === undefined ? 'submit' : 'button'}
      className={`action action-${kind}`}
      disabled={isBusy}
      onClick={onClick}
      // biome-ignore lint/a11y/noAutofocus: it is the element the person is asked to use.
      autoFocus={hasFocus}
    >
      {children}
    </button>
  )
}

/** An alternative, shown as a link that triggers an action. */
export function OtherWay({ children, onClick }: { children: ReactNode; onClick(): void }) {
  return (
    <button type="button" className="link other-way" onClick={onClick}>
      {children}
    </button>
  )
}
