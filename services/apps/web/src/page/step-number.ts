import type { InputComponent } from '@opsplane/contracts'
import { addDecimals, compareDecimals, decimalText, parseDecimal } from '@opsplane/sandbox/exact'
import { decimalTyped } from './input-values.js'

type NumberInput = Extract<InputComponent, { type: 'number_input' }>

/**
 * The number one step up (1) or down (-1), computed exactly; `undefined` if the result is out of bounds or the input
 * is not a number.
 */
export function stepNumber(
  { step = 1, min, max }: NumberInput,
  text: string,
  direction: number,
): string | undefined {
  const [from, by] = [decimalTyped(text === '' ? '0' : text), parseDecimal(String(step))]
  if (!from || !by) return undefined
  const next = addDecimals(from, { ...by, digits: by.digits * BigInt(direction) })
  const isBeyond = (bound: number | undefined, sign: number) => {
    const limit = bound === undefined ? undefined : parseDecimal(String(bound))
    return limit !== undefined && compareDecimals(next, limit) * sign > 0
  }
  return isBeyond(min, -1) || isBeyond(max, 1) ? undefined : decimalText(next)
}
