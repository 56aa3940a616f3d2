/** Float values that JSON numbers cannot represent, as texts. */
export const specialFloats: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity'])

export const floatProblem = 'must be a number, or one of "NaN", "Infinity" and "-Infinity"'

export const timePattern = /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?|24:00(?::00)?)$/

/** A date and time of day without an offset. Does not check that the day exists. */
export const localPattern = /^(?!0000)\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?$/

/** An ISO 8601 duration as Postgres writes it: each part may have its own sign. */
export const intervalPattern =
  /^P(?=.)(?:-?\d{1,9}Y)?(?:-?\d{1,9}M)?(?:-?\d{1,9}W)?(?:-?\d{1,9}D)?(?:T(?=.)(?:-?\d{1,9}H)?(?:-?\d{1,9}M)?(?:-?\d{1,9}(?:\.\d{1,6})?S)?)?$/

/** Maximum number of second digits in Postgres. */
export const secondDigits = 6

/** A message if a value's fraction of a second has more digits than `maxDigits`; `undefined` otherwise. */
export function fractionProblem(text: string, maxDigits: number): string | undefined {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  if (!/[1-9]/.test(fraction.slice(maxDigits))) return undefined
  return maxDigits === 0
    ? 'must have no fraction of a second'
    : `must have at most ${maxDigits} digits of a second`
}

/**
 * Whether a column of type `real` returns the same number: it stores about seven digits, and prints the fewest that
 * identify the value.
 */
export function isReal(value: number): boolean {
  const kept = Math.fround(value)
  for (let digits = 1; digits <= 9; digits++) {
    const shown = Number(kept.toPrecision(digits))
    if (Math.fround(shown) === kept) return shown === value
  }
  return false
}
