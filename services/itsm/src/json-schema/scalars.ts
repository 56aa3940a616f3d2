import { hasFormat } from './formats.js'
import { compilePattern } from './pattern.js'
import { type Check, checkBounds, fault, type Walk } from './walk.js'

export const checkValues: Check = (schema, value, at, walk) => {
  const { enum: allowed, const: constant } = schema
  if (Array.isArray(allowed)) {
    walk.spend(allowed.length)
    if (!allowed.includes(value))
      fault(walk, at, 'enum', 'invalid_value', 'must be one of the values allowed')
  }
  if (constant !== undefined && value !== constant)
    fault(walk, at, 'const', 'invalid_value', `must be ${JSON.stringify(constant)}`)
}

export const checkNumbers: Check = (schema, value, at, walk) => {
  if (typeof value !== 'number') return
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (typeof minimum === 'number' && value < minimum)
    fault(walk, at, 'minimum', 'too_small', `must be at least ${minimum}`)
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    fault(walk, at, 'exclusiveMinimum', 'too_small', `must be more than ${exclusiveMinimum}`)
  if (typeof maximum === 'number' && value > maximum)
    fault(walk, at, 'maximum', 'too_big', `must be at most ${maximum}`)
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    fault(walk, at, 'exclusiveMaximum', 'too_big', `must be less than ${exclusiveMaximum}`)
  if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
    fault(walk, at, 'multipleOf', 'not_multiple_of', `must be a multiple of ${multipleOf}`)
}

/** 0.3 is a multiple of 0.1, although their quotient is a little off in binary. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient))
}

export const checkTexts: Check = (schema, value, at, walk) => {
  if (typeof value !== 'string') return
  const { minLength, maxLength, format, pattern } = schema
  if (typeof format === 'string') {
    walk.spend(20 + value.length / 16)
    if (!hasFormat(format, value)) fault(walk, at, 'format', 'invalid_format', `must be of format ${format}`)
  }
  if (typeof pattern === 'string' && !holds(pattern, value, walk))
    fault(walk, at, 'pattern', 'invalid_format', `must match ${pattern}`)
  if (minLength === undefined && maxLength === undefined) return
  walk.spend(value.length / 16)
  checkBounds(schema, [...value].length, ['minLength', 'maxLength', 'characters'], at, walk)
}

/** What a step of the automaton costs is spent beforehand: an expression and a text from users may both be long. */
function holds(source: string, text: string, walk: Walk): boolean {
  const pattern = walk.patterns.get(source) ?? compilePattern(source, walk.spend)
  walk.patterns.set(source, pattern)
  walk.spend(pattern.size * (text.length + 1))
  return pattern.test(text)
}
