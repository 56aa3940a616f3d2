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
export function inputValue({ type }: InputComponent, typedValue: Typed): unknown {
  if (typeof typedValue !== 'string') return typedValue
  if (typedValue === '') return null
  if (type === 'number_input') return typedNumber(typedValue) ?? null
  return type === 'datetime_input' ? parseTypedTime(typedValue) : typedValue
}

/** The typed number, with a point or the separator of the reader's language; `undefined` if the text is not a number. */
function typedNumber(text: string): number | string | undefined {
  const decimal = decimalTyped(text)
  return decimal && toNumberOrText(decimal)
}
export const decimalTyped = (typed: string) => parseDecimal(typed.replace(decimalSeparator(), '.'))

/** The value that replaces a record's value: of the same type, as far as the type can be determined. */
export function changedValue(input: InputComponent, typedValue: Typed, before: unknown): unknown {
  if (typeof typedValue !== 'string' || typedValue === '') return inputValue(input, typedValue)
  switch (input.type) {
    case 'number_input':
      return inputValue(input, typedValue)
    case 'date_input':
      return applyTypedDay(typedValue, toText(before))
    case 'datetime_input':
      return parseTypedTime(typedValue, toText(before))
    default:
      return likeBefore(typedValue, before)
  }
}

function likeBefore(text: string, before: unknown): unknown {
  if (typeof before === 'number') return typedNumber(text) ?? text
  if (typeof before === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : text
  if (typeof before !== 'object' || before === null) return text
  const json = jsonTyped(text)
  return json ? exactNumbersAsText(json.value) : text
}

function jsonTyped(text: string): { value: unknown } | undefined {
  try {
    return { value: parseExact(text) }
  } catch {
    return undefined
  }
}

/** Validates the value of a control. Returns a message, or `undefined` if the value is valid. */
export function findProblem(input: InputComponent, typedValue: Typed, before: unknown): string | undefined {
  const isMissing =
    typedValue === null || typedValue === '' || (input.type === 'checkbox' && typedValue !== true)
  if (isMissing || typeof typedValue !== 'string')
    return isMissing && input.required ? missing(input) : undefined
  switch (input.type) {
    case 'text_input':
    case 'text_area':
      if (input.maxLength !== undefined && typedValue.length > input.maxLength)
        return `Use at most ${input.maxLength} characters.`
      return typeof before === 'object' && before !== null ? jsonProblem(typedValue) : undefined
    case 'number_input':
      return numberProblem(input, typedValue)
    default:
      return undefined
  }
}

function jsonProblem(text: string): string | undefined {
  const json = jsonTyped(text)
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
  text: string,
): string | undefined {
  const decimal = decimalTyped(text)
  if (!decimal) return `Enter a number, such as 1234${decimalSeparator()}5.`
  const compared = (bound: number) => compareDecimals(decimal, parseDecimal(String(bound)) ?? decimal)
  if (min !== undefined && compared(min) < 0) return `Enter ${min} or more.`
  if (max !== undefined && compared(max) > 0) return `Enter ${max} or less.`
  return undefined
}
