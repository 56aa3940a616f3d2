import { type Hooks, hooks, type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import { canonicalJson } from '@opsplane/contracts'
import type { Budget } from './budget.js'
import { hasFormat } from './formats.js'
import type { JsonMeasurement } from './json-values.js'
import type { Pattern } from './pattern.js'
import type { PreparedSchema } from './prepared-schema.js'
import { isObject } from './schema.js'

interface Evaluation {
  patterns: ReadonlyMap<string, Pattern>
  measured: JsonMeasurement
  budget: Budget
}

/** Runs the validator and returns its errors. Throws TooCostlyError. */
export function evaluate(
  { root, lookup }: PreparedSchema,
  value: unknown,
  evaluation: Evaluation,
): OutputUnit[] {
  const known = Object.assign(Object.create(lookup), { [hooks]: hooksOf(evaluation) })
  return validate(value, root, '2020-12', known, false).errors
}

/** Charges all expensive work to the budget before it is done, because the validator cannot be interrupted. */
function hooksOf({ patterns, measured: { sizes }, budget }: Evaluation): Hooks {
  const weightOf = (schema: Schema) => {
    const weight = weights.get(schema) ?? weigh(schema)
    weights.set(schema, weight)
    return weight
  }
  return {
    evaluate(schema, instance) {
      if (typeof schema === 'boolean') return budget.spend(0.5)
      const { fixed, perCharacter, choices } = weightOf(schema)
      if (typeof instance === 'string') return budget.spend(fixed + instance.length * perCharacter)
      const size = sizes.get(instance)
      budget.spend(size ? fixed + size.count / 8 + Math.min(choices, size.bytes * choices) / 64 : fixed)
    },
    pattern: (source) => ({
      test(text) {
        const pattern = patterns.get(source)
        if (!pattern) throw new Error(`The pattern ${source} was not read with its schema.`)
        budget.spend(1 + (pattern.size * (text.length + 1)) / 16)
        return pattern.test(text)
      },
    }),
    format(name, text) {
      budget.spend(10)
      return hasFormat(name, text)
    },
    repeats(items) {
      const seen = new Set<string>()
      for (const item of items) {
        budget.spend(0.25 + (sizes.get(item)?.bytes ?? textLength(item)) / 64)
        const text = canonicalJson(item)
        if (seen.has(text)) return true
        seen.add(text)
      }
      return false
    },
  }
}

const weights = new WeakMap<Schema, Weight>()
const textLength = (value: unknown) => (typeof value === 'string' ? value.length : 8)

interface Weight {
  fixed: number
  perCharacter: number
  /** Length as JSON of the values of `enum` and `const`. */
  choices: number
}

/** Cost of checking a value against a schema, without its subschemas. */
function weigh(schema: Schema): Weight {
  const choices = ['enum', 'const'].reduce(
    (sum, name) => sum + (schema[name] === undefined ? 0 : JSON.stringify(schema[name]).length),
    0,
  )
  const names = [
    'properties',
    'required',
    'patternProperties',
    'dependentRequired',
    'dependentSchemas',
  ].reduce((sum, name) => sum + namesIn(schema[name]), 0)
  const measures = schema.minLength !== undefined || schema.maxLength !== undefined
  // The validator serializes the choices if a value matches none of them.
  return { fixed: 1 + choices / 128 + names / 8, perCharacter: measures ? 1 / 256 : 0, choices }
}

function namesIn(value: unknown): number {
  if (Array.isArray(value)) return value.length
  if (!isObject(value)) return 0
  const lists = Object.values(value).map((inner) => (Array.isArray(inner) ? inner.length : 0))
  return lists.reduce((sum, length) => sum + length + 1, 0)
}
