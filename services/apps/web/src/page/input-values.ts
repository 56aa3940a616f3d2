import type { InputComponent } from '@opsplane/contracts'
import { exactNumbersAsText, parseExact } from '@opsplane/contracts/exact-json'
import { compareDecimals, decimalText, parseDecimal, toNumberOrText } from '@opsplane/sandbox/exact'
import { toText } from '../expression/evaluate.js'
import { decimalSeparator } from './format.js'
import { applyTypedDay, parseTypedTime, typedDay, typedTime } from './times.js'

/** Value of a browser control: text as typed, a checkbox state, or `null` for an indeterminate checkbox. */
export type Typed = string | boolean | null

/** Converts a value to the value of a control. */
export function toTyped(input: InputComponent, value: unknown): Typed {
  switch (input.type) {
    case 'checkbox':
      if (value === true || value === 'true') return true
      // A record without a value is shown as indeterminate.
      return (value === null || value === undefined) && input.value !== undefined ? null : false
    case 'date_input':
      return typedDay(toText(value))
    case 'datetime_input':
      return typedTime(toText(value))
    case 'number_input':
      return typeof value === 'number' ? plainNumber(value) : toText(value)
    default:
      return toText(value)
  }
}

/** Formats a number without an exponent. */
function plainNumber(value: number): string {
  const decimal = parseDecimal(String(value))
  return decimal ? decimalText(decimal) : String(value)
}

/** The value of an input in expressions and in a new record; `null` for an empty input. */
export function inputValue({ type }: InputComponent, typed: Typed): unknown {
  if (typeof typed !== 'string') return typed
  if (typed === '') return null
  if (type === 'number_input') return typedNumber(typed) ?? null
  return type === 'datetime_input' ? parseTypedTime(typed) : typed
}

/** The typed number, with a point or the separator of the reader's language; `undefined` if the text is not a number. */
function typedNumber(typed: string): number | string | undefined {
  const decimal = decimalTyped(typed)
  return decimal && toNumberOrText(decimal)
}
export const decimalTyped = (typed: string) => parseDecimal(typed.replace(decimalSeparator(), '.'))

/** The value that replaces a record's value: of the same type, as far as the type can be determined. */
export function changedValue(input: InputComponent, typed: Typed, before: unknown): unknown {
  if (typeof typed !== 'string' || typed === '') return inputValue(input, typed)
  switch (input.type) {
    case 'number_input':
      return inputValue(input, typed)
    case 'date_input':
      return applyTypedDay(typed, toText(before))
    case 'datetime_input':
      return parseTypedTime(typed, toText(before))
    default:
      return likeBefore(typed, before)
  }
}

function likeBefore(typed: string, before: unknown): unknown {
  if (typeof before === 'number') return typedNumber(typed) ?? typed
  if (typeof before === 'boolean') return typed === 'true' || typed === 'false' ? typed === 'true' : typed
  if (typeof before !== 'object' || before === null) return typed
  const json = jsonTyped(typed)
  return json ? exactNumbersAsText(json.value) : typed
}

function jsonTyped(typed: string): { value: unknown } | undefined {
  try {
    return { value: parseExact(typed) }
  } catch {
    return undefined
  }
}

/** Validates the value of a control. Returns a message, or `undefined` if the value is valid. */
export function findProblem(input: InputComponent, typed: Typed, before: unknown): string | undefined {
  const isMissing = typed === null || typed === '' || (input.type === 'checkbox' && typed !== true)
  if (isMissing || typeof typed !== 'string') return isMissing && input.required ? missing(input) : undefined
  switch (input.type) {
    case 'text_input':
    case 'text_area':
      if (input.maxLength !== undefined && typed.length > input.maxLength)
        return `Use at most ${input.maxLength} characters.`
      return typeof before === 'object' && before !== null ? jsonProblem(typed) : undefined
    case 'number_input':
      return numberProblem(input, typed)
    default:
      return undefined
  }
}

function jsonProblem(typed: string): string | undefined {
  const json = jsonTyped(typed)
  if (!json) return 'Enter JSON, such as {"key": "value"}.'
  return exactNumbersAsText(json.value) !== json.value
    ? 'Enter numbers of more than 15 digits as texts, in quotation marks.'
    : undefined
}

function missing({ type }: InputComponent): string {
  if (type === 'checkbox') return 'Tick this to go on.'
  return type === 'select' || type === 'radio' ? 'Choose one of these.' : 'Fill this in.'
}

function numberProblem(
  { min, max }: { min?: number | undefined; max?: number | undefined },
  typed: string,
): string | undefined {
  const decimal = decimalTyped(typed)
  if (!decimal) return `Enter a number, such as 1234${decimalSeparator()}5.`
  const compared = (bound: number) => compareDecimals(decimal, parseDecimal(String(bound)) ?? decimal)
  if (min !== undefined && compared(min) < 0) return `Enter ${min} or more.`
  if (max !== undefined && compared(max) > 0) return `Enter ${max} or less.`
  return undefined
}
