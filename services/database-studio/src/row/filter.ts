import {
  CalendarDay,
  type Column,
  ExactNumber,
  recordListBounds,
  type ScalarType,
  stringifyExact,
} from '@opsplane/contracts'
import { parameterText } from '@opsplane/postgres'
import { buildFields, type Columns, type Field, isOrdered, type TypedField } from './fields.js'
import { type Place, type Problems, pathBelow } from './problems.js'
import { parseValue } from './values.js'

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte'

/** A condition on one field, with its operand as Postgres takes it; or a list of alternatives. */
export type Condition =
  | { kind: 'equals'; field: Field; value: string | null; negated: boolean }
  | { kind: 'among'; field: Field; values: readonly string[]; orNull: boolean; negated: boolean }
  | { kind: 'compares'; field: Field; by: Comparison; value: string }
  | { kind: 'exists'; field: Field; value: boolean }
  | { kind: 'contains' | 'starts_with'; field: Field; value: string }
  /** Ignores case, and also accents unless an index is to be used. */
  | { kind: 'matches'; field: Field; value: string; atStart: boolean; byIndex?: boolean }
  /** The list contains this element. */
  | { kind: 'has'; field: Field; items: ScalarType; value: string }
  | { kind: 'json'; field: Field; path: readonly string[]; test: JsonTest }
  | { kind: 'or'; alternatives: readonly (readonly Condition[])[] }

/** A condition on a value within a json column; operands are JSON. */
export type JsonTest =
  | { by: 'equals' | 'differs' | 'contains'; value: string }
  | { by: 'among' | 'not_among'; values: readonly string[] }
  | { by: Comparison; value: string; number: boolean }
  | { by: 'exists'; value: boolean }
  | { by: 'starts_with'; value: string }
  | { by: 'matches'; value: string; atStart: boolean }

const bounds = { ...recordListBounds, alternatives: 50, values: 1_000, depth: 4, path: 100 }
const operators = new Set([
  'in',
  'nin',
  'ne',
  'gt',
  'gte',
  'lt',
  'lte',
  'exists',
  'contains',
  'starts_with',
  'matches',
  'matches_start',
])

interface Reading {
  fields: ReadonlyMap<string, Field>
  timeZone: string
  problems: Problems
  conditions: number
}

/**
 * Parses a filter in the platform's syntax against the columns of a table. Fields are ANDed, as are several operators
 * of one field; `or` has a list of alternative filters. A date stands for the start of that day in `timeZone`. Problems
 * are added to `problems` with their place.
 */
export function readFilter(
  table: Columns,
  filter: unknown,
  place: Place,
  problems: Problems,
  timeZone = 'UTC',
): Condition[] {
  return readAll({ fields: buildFields(table), problems, timeZone, conditions: 0 }, filter, place, 1)
}

function readAll(reading: Reading, filter: unknown, place: Place, depth: number): Condition[] {
  const { problems } = reading
  if (!isObject(filter)) {
    problems.add(place, 'invalid_type', 'must be an object of conditions')
    return []
  }
  return Object.entries(filter).flatMap(([name, condition]) => {
    const at = pathBelow(place, name)
    if (++reading.conditions > bounds.conditions) {
      if (reading.conditions === bounds.conditions + 1)
        problems.add(at, 'too_big', `must have at most ${bounds.conditions} conditions`)
      return []
    }
    if (name === 'or' && Array.isArray(condition)) return readOr(reading, condition, at, depth)
    return readField(reading, name, condition, at)
  })
}

function readOr(reading: Reading, filters: unknown[], at: Place, depth: number): Condition[] {
  if (filters.length === 0 || depth >= bounds.depth) {
    const message =
      filters.length === 0 ? 'must have a filter' : `must not be nested deeper than ${bounds.depth}`
    reading.problems.add(at, 'invalid_value', message)
    return []
  }
  if (filters.length > bounds.alternatives) {
    reading.problems.add(at, 'too_big', `must have at most ${bounds.alternatives} filters`)
    return []
  }
  const alternatives = filters.map((filter, index) =>
    readAll(reading, filter, pathBelow(at, index), depth + 1),
  )
  return [{ kind: 'or', alternatives }]
}

function readField(reading: Reading, name: string, condition: unknown, at: Place): Condition[] {
  const [head = '', ...path] = name.split('.')
  const field = reading.fields.get(path.length === 0 ? name : head)
  if (!field || (path.length > 0 && field.kind !== 'json')) {
    reading.problems.add(at, 'unrecognized_key', 'is not a field of this table')
    return []
  }
  if (path.length > bounds.path) {
    reading.problems.add(at, 'too_deep', `must have at most ${bounds.path} parts`)
    return []
  }
  const tests = operatorsOf(reading, condition, at)
  return tests.flatMap(([operator, operand, place]) => {
    const found =
      field.kind === 'json' && (path.length > 0 || operator !== 'exists')
        ? readJson({ field, path }, operator, operand)
        : readTest(field, operator, operandIn(field, operand, reading.timeZone))
    if (typeof found !== 'string') return [found]
    reading.problems.add(place, 'invalid_value', found)
    return []
  })
}

/** The operators of a condition with their operands; a plain value means equality. */
function operatorsOf({ problems }: Reading, condition: unknown, at: Place): [string, unknown, Place][] {
  if (!isObject(condition)) return [['eq', condition, at]]
  const entries = Object.entries(condition)
  if (entries.length === 0) problems.add(at, 'invalid_value', 'must name at least one operator')
  return entries.flatMap(([operator, operand]): [string, unknown, Place][] => {
    const place = pathBelow(at, operator)
    if (operators.has(operator)) return [[operator, operand, place]]
    problems.add(place, 'unrecognized_key', `is no operator; there are ${[...operators].join(', ')}`)
    return []
  })
}

/** Converts dates in an operand of a timestamp field to the start of the day, which Postgres computes. */
function operandIn(field: Field, operand: unknown, timeZone: string): unknown {
  if (field.kind !== 'timestamp') return operand
  if (Array.isArray(operand)) return operand.map((one) => operandIn(field, one, timeZone))
  return CalendarDay.safeParse(operand).success ? new StartOfDay(`${operand} 00:00 ${timeZone}`) : operand
}

class StartOfDay {
  constructor(readonly text: string) {}
}

/** Returns the condition, or a message about its operand. */
function readTest(field: Field, operator: string, operand: unknown): Condition | string {
  if (field.kind === 'other' && operator !== 'exists')
    return 'can only be tested by exists: the field is of a type that only SQL compares'
  switch (operator) {
    case 'eq':
    case 'ne': {
      const value = operand === null ? null : operandOf(field, operand)
      if (value !== null && typeof value !== 'string') return value.problem
      return { kind: 'equals', field, value, negated: operator === 'ne' }
    }
    case 'in':
    case 'nin':
      return readAmong(field, operand, operator === 'nin')
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte': {
      if (field.kind === 'boolean') return 'must not be compared: the field is true or false'
      if (!isOrdered(field)) return 'must not be compared: the field is a list'
      const value = operandOf(field, operand)
      return typeof value === 'string' ? { kind: 'compares', field, by: operator, value } : value.problem
    }
    case 'exists':
      return typeof operand === 'boolean'
        ? { kind: 'exists', field, value: operand }
        : 'must be true or false'
    default:
      if (operator === 'contains' && field.definition?.type === 'array')
        return readElement(field, field.definition.items, operand)
      return readText(field, operator, operand)
  }
}

function readElement(field: Field, items: ScalarType, operand: unknown): Condition | string {
  if (operand === null) return 'must be a value'
  const value = operandOf({ kind: items }, operand)
  return typeof value === 'string' ? { kind: 'has', field, items, value } : value.problem
}

function readText(field: Field, operator: string, operand: unknown): Condition | string {
  if (!['text', 'enum', 'reference'].includes(field.kind)) return 'is for texts'
  if (typeof operand !== 'string' || operand.includes('\0')) return 'must be a text'
  if (operand.length > bounds.text) return `must have at most ${bounds.text} characters`
  if (operator === 'contains' || operator === 'starts_with') return { kind: operator, field, value: operand }
  return { kind: 'matches', field, value: operand, atStart: operator === 'matches_start' }
}

function readAmong(field: Field, operand: unknown, negated: boolean): Condition | string {
  if (!Array.isArray(operand) || operand.length > bounds.values)
    return `must be a list of at most ${bounds.values} values`
  const values: string[] = []
  for (const one of operand) {
    if (one === null) continue
    const value = operandOf(field, one)
    if (typeof value !== 'string') return `has a value that ${value.problem}`
    values.push(value)
  }
  return { kind: 'among', field, values: [...new Set(values)], orNull: operand.includes(null), negated }
}

/** An operand as text. It may be longer or more precise than the column allows: then it equals no value. */
function operandOf({ kind, definition }: TypedField, operand: unknown): string | { problem: string } {
  if (operand instanceof StartOfDay) return operand.text
  const bounded = kind === 'enum' || kind === 'array' ? withoutPrecision(definition) : undefined
  const parsed = parseValue({ kind, ...(bounded && { definition: bounded }) }, operand)
  if ('problem' in parsed) return parsed
  const text = Array.isArray(parsed.value)
    ? (parameterText(parsed.value, undefined) ?? '')
    : String(parsed.value)
  return text.length > bounds.text ? { problem: `must have at most ${bounds.text} characters` } : text
}

function withoutPrecision(column: Column | undefined): Column | undefined {
  if (column?.type !== 'array') return column
  const { precision: _, scale: __, ...array } = column
  return array
}

function readJson(
  { field, path }: { field: Field; path: string[] },
  operator: string,
  operand: unknown,
): Condition | string {
  const test = jsonTest(operator, operand)
  return typeof test === 'string' ? test : { kind: 'json', field, path, test }
}

function jsonTest(operator: string, operand: unknown): JsonTest | string {
  const isNumber = typeof operand === 'number' || operand instanceof ExactNumber
  const isScalar = operand === null || isNumber || ['string', 'boolean'].includes(typeof operand)
  const text = stringifyExact(operand)
  if (text.length > bounds.text * 10) return 'must be shorter'
  switch (operator) {
    case 'in':
    case 'nin':
      if (!Array.isArray(operand) || operand.length > bounds.values)
        return `must be a list of at most ${bounds.values} values`
      return {
        by: operator === 'in' ? 'among' : 'not_among',
        values: operand.map((one) => stringifyExact(one)),
      }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (isNumber) return { by: operator, value: text, number: true }
      return typeof operand === 'string'
        ? { by: operator, value: operand, number: false }
        : 'must be a number or a text'
    case 'exists':
      return typeof operand === 'boolean' ? { by: 'exists', value: operand } : 'must be true or false'
    case 'starts_with':
      return typeof operand === 'string' ? { by: 'starts_with', value: operand } : 'must be a text'
    case 'matches':
    case 'matches_start':
      if (typeof operand !== 'string') return 'must be a text'
      return { by: 'matches', value: operand, atStart: operator === 'matches_start' }
    default:
      if (!isScalar) return 'must be a text, a number, true, false or null'
      return { by: operator === 'eq' ? 'equals' : operator === 'ne' ? 'differs' : 'contains', value: text }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
