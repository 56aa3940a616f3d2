import type { InputComponent } from '@opsplane/contracts'
import { type KeyboardEvent, useId } from 'react'
import type { Typed } from '../page/input-values.js'
import { stepNumber } from '../page/step-number.js'
import { ChoiceControl } from './choice.js'
import { usePage } from './context.js'
import type { ControlProps } from './control-props.js'
import { ExpressionFailure } from './failure.js'
import type { ComponentOf } from './kinds.js'

export interface InputProps {
  input: InputComponent
  /** An input outside a form is never required. */
  isOfForm?: boolean
  /** Error message shown below the input. */
  problem?: string | undefined
}

/** An input outside a form: the expressions of the page use its value. */
export const FreeInput = ({ input }: { input: InputComponent }) => <InputView input={input} />

/** A control with its label, help text and error message. */
export function InputView({ input, isOfForm = false, problem }: InputProps) {
  const { store } = usePage()
  const id = useId()
  const [helpId, problemId] = [`${id}-help`, `${id}-problem`]
  const described = [input.help && helpId, problem && problemId].filter(Boolean).join(' ')
  const aria = {
    ...(described && { 'aria-describedby': described }),
    ...(problem !== undefined && { 'aria-invalid': true }),
    ...(input.required && { 'aria-required': true }),
  }
  const name =
    isOfForm && !input.required && input.type !== 'checkbox' ? `${input.label} (optional)` : input.label
  const empty = isOfForm ? 'None' : 'Any'
  const control = {
    ...{ id, aria, typed: store.inputs.typed(input) },
    onTyped: (typedValue: Typed) => store.type(input, typedValue),
  }
  const failure = store.inputs.failure(input)
  const notes = (
    <>
      {failure !== undefined && (
        <ExpressionFailure
          what="The initial value of this field is not available: enter one yourself."
          error={failure}
        />
      )}
      {input.help && (
        <p className="help" id={helpId}>
          {input.help}
        </p>
      )}
      {problem && (
        <p className="problem" id={problemId}>
          {problem}
        </p>
      )}
    </>
  )
  if (input.type === 'radio') return <ChoiceControl {...control} input={input} {...{ name, empty, notes }} />
  if (input.type === 'checkbox') {
    return (
      <div className="field">
        <div className="check">
          <Checkbox {...control} input={input} />
          <label htmlFor={id}>{name}</label>
        </div>
        {notes}
      </div>
    )
  }
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      {input.type === 'select' ? (
        <ChoiceControl {...control} input={input} {...{ name, empty }} />
      ) : (
        <TypedControl {...control} input={input} />
      )}
      {notes}
    </div>
  )
}

function Checkbox({ id, typed, onTyped, aria }: ControlProps) {
  return (
    <input
      {...{ id, ...aria, type: 'checkbox', checked: typed === true }}
      ref={(element) => {
        if (element) element.indeterminate = typed === null
      }}
      onChange={(event) => onTyped(event.currentTarget.checked)}
    />
  )
}

type TypedInput = Exclude<
  InputComponent,
  ComponentOf<'select'> | ComponentOf<'radio'> | ComponentOf<'checkbox'>
>

function TypedControl({ input, id, typed, onTyped, aria }: ControlProps<TypedInput>) {
  const common = { id, ...aria, value: String(typed) }
  switch (input.type) {
    case 'text_area':
      return (
        <textarea
          {...common}
          rows={5}
          {...(input.maxLength !== undefined && { maxLength: input.maxLength })}
          onChange={(event) => onTyped(event.currentTarget.value)}
        />
      )
    case 'number_input':
      return (
        <input
          // The browser's number control rounds values changed with the arrow keys or the wheel.
          {...{ ...common, type: 'text', inputMode: 'decimal', autoComplete: 'off' }}
          onChange={(event) => onTyped(event.currentTarget.value)}
          onKeyDown={(event) => step(event, input, onTyped)}
        />
      )
    case 'text_input':
      return (
        <input
          {...common}
          type="text"
          {...(input.maxLength !== undefined && { maxLength: input.maxLength })}
          onChange={(event) => onTyped(event.currentTarget.value)}
        />
      )
    case 'date_input':
      return <input {...common} type="date" onChange={(event) => onTyped(event.currentTarget.value)} />
    case 'datetime_input':
      return (
        <input
          {...common}
          type="datetime-local"
          // Seconds and milliseconds are shown and editable if the value has any.
          step={stepOf(common.value)}
          onChange={(event) => onTyped(event.currentTarget.value)}
        />
      )
  }
}

const stepOf = (text: string): number | undefined =>
  text.includes('.') ? 0.001 : text.length > 'YYYY-MM-DDTHH:MM'.length ? 1 : undefined

function step(
  event: KeyboardEvent<HTMLInputElement>,
  input: ComponentOf<'number_input'>,
  onTyped: (typedValue: Typed) => void,
) {
  const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key]
  const next = direction && stepNumber(input, event.currentTarget.value, direction)
  if (next === undefined || next === 0) return
  event.preventDefault()
  onTyped(next)
}
