import { ExactNumber, type TableState } from '@opsplane/contracts'
import { buildFields, isWritable } from './fields.js'

import { type Place, type Problems, pathBelow } from './problems.js'
import { parseValue } from './values.js'

/** Column values in the form sent to Postgres, by column name. */
export type Values = Record<string, unknown>

/** Resolves a value of the form `{"$as": name}` to the id of a record created by the same request. */
export type FindRef = (name: string) => string | undefined

/**
 * Parses the columns of a record from a request. Problems are added to `problems` with the place of their field,
 * including missing required columns of a new record.
 */
export function readRecord(
  table: TableState,
  input: unknown,
  { place, problems, isNew, ref }: { place: Place; problems: Problems; isNew: boolean; ref?: FindRef },
): Values {
  if (typeof input !== 'object' || input === null || Array.isArray(input) || input instanceof ExactNumber) {
    problems.add(place, 'invalid_type', 'must be an object of columns')
    return {}
  }
  const fields = buildFields(table)
  const values: Values = {}
  for (const [name, value] of Object.entries(input)) {
    const field = fields.get(name)
    const column = field?.definition
    if (!field || !column) {
      const message = field ? 'is kept by the platform' : 'is not a column of this table'
      problems.add(pathBelow(place, name), 'unrecognized_key', message)
    } else if (column.type === 'computed') {
      problems.add(pathBelow(place, name), 'invalid_value', 'is computed, so it cannot be given')
    } else if (column.type === 'other') {
      const message = `is of the type ${column.sqlType}, which only SQL writes`
      problems.add(pathBelow(place, name), 'invalid_value', message)
    } else if (value === null) {
      values[name] = null
      if (!field.nullable) problems.add(pathBelow(place, name), 'invalid_value', 'must not be null')
    } else {
      const parsed = parseValue(field, field.kind === 'reference' ? (referred(value, ref) ?? value) : value)
      if ('problem' in parsed) problems.add(pathBelow(place, name), 'invalid_value', parsed.problem)
      else values[name] = parsed.value
    }
  }
  if (isNew) requireColumns(table, input, place, problems)
  return values
}

function referred(value: unknown, ref: FindRef | undefined): string | undefined {
  if (!ref || typeof value !== 'object' || value === null || !('$as' in value)) return undefined
  return typeof value.$as === 'string' ? ref(value.$as) : undefined
}

function requireColumns(table: TableState, input: object, place: Place, problems: Problems): void {
  for (const column of table.columns) {
    const { name, nullable, default: byDefault } = column
    if (!nullable && byDefault === null && isWritable(column) && !Object.hasOwn(input, name))
      problems.add(pathBelow(place, name), 'required', 'is required')
  }
}
