import { ApiError, type ErrorDetail, type ParameterType } from '@opsplane/contracts'
import { jsonPointer } from '@opsplane/http'
import { checkParameter, type Json, parameterText } from '@opsplane/postgres'
import type { NumberedStatement } from '../sql/parameters.js'

/** JSON from the request body. */
export type ParameterValues = readonly unknown[] | Readonly<Record<string, unknown>>
/** By name or number. */
export type ParameterTypes = Readonly<Record<string, ParameterType>>

/** A list of types is converted to an object keyed by position, starting at 1. */
export function typesByName(
  types: readonly (ParameterType | null)[] | ParameterTypes | undefined,
): ParameterTypes {
  if (!Array.isArray(types)) return (types as ParameterTypes | undefined) ?? {}
  return Object.fromEntries(types.flatMap((type, index) => (type ? [[String(index + 1), type]] : [])))
}

/** The values of a statement's parameters in order, as text for Postgres. Throws `validation_failed`. */
export function parseArguments(
  statement: NumberedStatement,
  values: ParameterValues,
  types: ParameterTypes,
): (string | null)[] {
  const { names, count } = statement
  const keys = names.length > 0 ? names : Array.from({ length: count }, (_, index) => String(index + 1))
  const valuesByName = new Map<string, unknown>(
    Array.isArray(values) ? values.map((value, index) => [String(index + 1), value]) : Object.entries(values),
  )
  const missing = keys
    .filter((key) => !valuesByName.has(key))
    .map((key) => detail(key, 'required', 'has no value'))
  const unknown = [...valuesByName.keys()].filter((key) => !keys.includes(key))
  const details = [...missing, ...unknown.map((key) => detail(key, 'unknown', 'is no parameter of the SQL'))]
  if (details.length > 0)
    throw new ApiError('validation_failed', 'The parameters do not match those of the SQL.', { details })
  return keys.map((key) => {
    const value = (valuesByName.get(key) ?? null) as Json
    const type = Object.hasOwn(types, key) ? types[key] : undefined
    if (type) checkParameter(key, value, type)
    return parameterText(value, type)
  })
}

const detail = (name: string, code: string, message: string): ErrorDetail => ({
  ...{ in: 'body', path: `/parameters${jsonPointer([name])}`, code, message: `${name} ${message}` },
})
