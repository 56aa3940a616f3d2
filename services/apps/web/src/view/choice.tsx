import type { ReactNode } from 'react'
import { textOf } from '../expression/evaluate.js'
import { fieldOf } from '../page/format.js'
import type { PageStore } from '../page/store.js'
import { usePage } from './context.js'
import type { ControlProps } from './control-props.js'
import { LoadState } from './failure.js'
import type { Of } from './kinds.js'

type ChoiceInput = Of<'select'> | Of<'radio'>
interface Option {
  value: string
  label: string
}

interface ChoiceProps extends ControlProps<ChoiceInput> {
  name: string
  /** What choosing nothing is called. */
  empty: string
  notes?: ReactNode
}

/** One of several: of a list, or of the rows of a source. */
export function ChoiceControl({ notes, empty, ...props }: ChoiceProps) {
  const { store } = usePage()
  const options = optionsOf(store, props.input)
  const state = <OptionState input={props.input} store={store} />
  if (props.input.type === 'radio')
    return (
      <Radios
        {...props}
        options={options}
        notes={
          <>
            {state}
            {notes}
          </>
        }
      />
    )
  const { id, typed, onTyped, aria, input } = props
  return (
    <>
      <select
        {...{ id, ...aria }}
        value={String(typed)}
        onChange={(event) => onTyped(event.currentTarget.value)}
      >
        {/* Chosen by nobody is no choice: something required has to be chosen. */}
        {(!input.required || typed === '') && <option value="">{input.required ? 'Choose…' : empty}</option>}
        {options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      {state}
    </>
  )
}

interface RadioProps extends ControlProps<ChoiceInput> {
  options: readonly Option[]
  name: string
  notes: ReactNode
}

function Radios({ name, id, typed, onTyped, aria, options, notes }: RadioProps) {
  const { 'aria-describedby': described, 'aria-invalid': isWrong, 'aria-required': isRequired } = aria
  return (
    <div
      className="field"
      role="radiogroup"
      aria-labelledby={`${id}-name`}
      {...{ 'aria-describedby': described, 'aria-invalid': isWrong, 'aria-required': isRequired }}
    >
      <span className="name" id={`${id}-name`}>
        {name}
      </span>
      {options.map(({ value, label }, index) => (
        <div className="check" key={value}>
          <input
            {...{ type: 'radio', id: index === 0 ? id : `${id}-${index}`, value, checked: value === typed }}
            name={id}
            onChange={() => onTyped(value)}
          />
          <label htmlFor={index === 0 ? id : `${id}-${index}`}>{label}</label>
        </div>
      ))}
      {notes}
    </div>
  )
}

function OptionState({ input: { options }, store }: { input: ChoiceInput; store: PageStore }) {
  if (Array.isArray(options)) return null
  const { source, params } = options
  return <LoadState loaded={store.loaded(source, params)} onRetry={() => store.refresh([source])} />
}

function optionsOf(store: PageStore, { options }: ChoiceInput): readonly Option[] {
  if (Array.isArray(options)) return options
  return store.loaded(options.source, options.params).rows.map((row) => ({
    value: textOf(fieldOf(row, options.value)),
    label: textOf(fieldOf(row, options.label)),
  }))
}
