/** What a float is in JSON that no number of JSON is. */
export const specialFloats: ReadonlySet<unknown> = new Set(['NaN', 'Infinity', '-Infinity'])

export const floatProblem = 'must be a number, or one of "NaN", "Infinity" and "-Infinity"'

export const timePattern = /^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?|24:00(?::00)?)$/

/** A date and time of day without an offset; whether there is such a day is another question. */
export const localPattern = /^(?!0000)\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?$/

/** A duration of ISO 8601, as Postgres writes it: each part may have a sign of its own. */
export const intervalPattern =
  /^P(?=.)(?:-?\d{1,9}Y)?(?:-?\d{1,9}M)?(?:-?\d{1,9}W)?(?:-?\d{1,9}D)?(?:T(?=.)(?:-?\d{1,9}H)?(?:-?\d{1,9}M)?(?:-?\d{1,9}(?:\.\d{1,6})?S)?)?$/

/**
 * What is wrong with the fraction of a second of an instant or a local one: columns have milliseconds. What is only compared
 * with them has as many digits as Postgres.
 */
export function fractionProblem(text: string, isStored: boolean): string | undefined {
  const most = isStored ? 3 : 6
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  return /[1-9]/.test(fraction.slice(most)) ? `must have at most ${most} digits of a second` : undefined
}
