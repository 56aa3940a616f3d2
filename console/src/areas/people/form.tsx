import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, type SelectHTMLAttributes, useId } from 'react'
import { usePlace } from '../../place/context.js'
import { Refusal } from '../../proof/refusal.js'
import { peopleKey } from './queries.js'

/** Mutation of data about people; afterwards all queries about people are invalidated. */
export function useChange<Input, Answer>(change: (input: Input) => Promise<Answer>) {
  const { place } = usePlace()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSettled: () => queries.invalidateQueries({ queryKey: peopleKey(place) }),
  })
}

interface SubmitFormProps {
  label: string
  change: { error: unknown; isPending: boolean }
  onSubmit(form: HTMLFormElement): void
  /** Shown next to the button. */
  end?: ReactNode
  children: ReactNode
}

/** A form with one submit button, and the reason of a refusal above it. */
export function SubmitForm({ label, change, onSubmit, end, children }: SubmitFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onSubmit(event.currentTarget)
  }
  return (
    <form className="panel-form" onSubmit={submit}>
      {children}
      <Refusal error={change.error} />
      <span className="row wrap">
        <Button type="submit" size="xs" loading={change.isPending}>
          {label}
        </Button>
        {end}
      </span>
    </form>
  )
}

interface ChoiceProps extends Omit<SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> {
  label: string
  options: readonly (readonly [value: string, label: string])[]
  help?: string
  error?: string | undefined
  onChange(value: string): void
}

/** A select field. */
export function Choice({ label, options, help, error, onChange, ...select }: ChoiceProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select {...select} id={id} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {help && <span className="small muted">{help}</span>}
      {error !== undefined && <span className="small state-bad">{error}</span>}
    </div>
  )
}

interface LinesProps {
  label: string
  value: string
  help: string
  error?: string | undefined
  onChange(value: string): void
}

/** A text area with one value per line. */
export function Lines({ label, value, help, error, onChange }: LinesProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={3}
        value={value}
        spellCheck={false}
        aria-describedby={`${id}-help`}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <span id={`${id}-help`} className="small muted">
        {help}
      </span>
      {error !== undefined && <span className="small state-bad">{error}</span>}
    </div>
  )
}

export const splitLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

interface TickProps {
  label: ReactNode
  isOn: boolean
  isDisabled?: boolean
  title?: string | undefined
  help?: string
  onTurn(isOn: boolean): void
}

/** A checkbox. */
export function Tick({ label, isOn, isDisabled = false, title, help, onTurn }: TickProps) {
  return (
    <label className="tick" title={title}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={isDisabled}
        onChange={({ currentTarget }) => onTurn(currentTarget.checked)}
      />
      <span>
        {label}
        {help && <span className="small muted block">{help}</span>}
      </span>
    </label>
  )
}
