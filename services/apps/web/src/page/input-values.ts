import type { InputComponent } from '@opsplane/contracts'
import { textOf } from '../expression/evaluate.js'

/** What a control of the browser holds: texts as typed, a checkbox its state. */
export type Typed = string | boolean

/** What an input means, as expressions and the server see it; null for nothing. */
export function inputValue({ type }: InputComponent, typed: Typed): unknown {
  if (typeof typed === 'boolean') return typed
  if (typed === '') return null
  switch (type) {
    case 'number_input':
      return Number.isFinite(Number(typed)) ? Number(typed) : null
    case 'datetime_input':
      return Number.isNaN(Date.parse(typed)) ? null : new Date(typed).toISOString()
    default:
      return typed
  }
}

/** How a value is put into a control. */
export function typedOf({ type }: InputComponent, value: unknown): Typed {
  if (type === 'checkbox') return value === true || value === 'true'
  if (type === 'date_input') return textOf(value).slice(0, 10)
  return type === 'datetime_input' ? localTime(textOf(value)) : textOf(value)
}

/** An instant as a datetime-local control shows it, to the minute. */
function localTime(text: string): string {
  const instant = new Date(text)
  if (text === '' || Number.isNaN(instant.getTime())) return ''
  const local = new Date(instant.getTime() - instant.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** What is wrong with a value, in words; undefined if nothing is. */
export function problemOf(input: InputComponent, value: unknown): string | undefined {
  const isMissing =
    value === null || value === undefined || value === '' || (input.type === 'checkbox' && value !== true)
  if (isMissing) return input.required ? missing(input) : undefined
  switch (input.type) {
    case 'text_input':
    case 'text_area':
      return input.maxLength !== undefined && textOf(value).length > input.maxLength
        ? `Use at most ${input.maxLength} characters.`
        : undefined
    case 'number_input':
      return numberProblem(input, Number(value))
    default:
      return undefined
  }
}

function missing({ type }: InputComponent): string {
  if (type === 'checkbox') return 'Tick this to go on.'
  return type === 'select' || type === 'radio' ? 'Choose one of these.' : 'Fill this in.'
}

function numberProblem(
  { min, max }: { min?: number | undefined; max?: number | undefined },
  value: number,
): string | undefined {
  if (min !== undefined && value < min) return `Enter ${min} or more.`
  if (max !== undefined && value > max) return `Enter ${max} or less.`
  return undefined
}
