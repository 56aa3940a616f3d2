import {
  AnalyticsQuery,
  ApiError,
  type ErrorDetail,
  ExactNumber,
  exactNumbersAsText,
  type JsonValue,
  type ReportParameter,
  type ReportState,
  type RunReport,
} from '@opsplane/contracts'
import { pointerPart } from '../query/invalid-query.js'

const placeholder = /^\{\{\s*params\.([A-Za-z][A-Za-z0-9_]{0,62})\s*\}\}$/

type Values = Readonly<Record<string, JsonValue>>

/** Replaces each string that is a placeholder. A parameter without a value removes its filter or parameter. */
function replacePlaceholders(value: unknown, values: Values): unknown {
  if (typeof value === 'string') {
    const name = placeholder.exec(value)?.[1]
    return name === undefined ? value : values[name]
  }
  if (Array.isArray(value)) return value.flatMap((each) => replacePlaceholders(each, values) ?? [])
  if (value === null || typeof value !== 'object' || value instanceof ExactNumber) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const made = replacePlaceholders(each, values)
      return made === undefined || isEmptyCondition(each, made) ? [] : [[name, made]]
    }),
  )
}

/** A condition is removed if none of its operators has a value. */
const isEmptyCondition = (before: unknown, after: unknown) => sizeOf(after) === 0 && (sizeOf(before) ?? 0) > 0

const sizeOf = (value: unknown) =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber)
    ? Object.keys(value).length
    : undefined

/** Pointer of a query field: in the body of a run if the body overrides the field, otherwise in the report. */
export const toReportPointer =
  (given: RunReport) =>
  (pointer: string): string => {
    const [, name = ''] = pointer.split('/')
    return name !== 'parameters' && Object.hasOwn(given, name) ? pointer : `/query${pointer}`
  }

/** Names of the parameters a query refers to. */
export function findParameters(value: unknown): string[] {
  if (typeof value === 'string') return placeholder.exec(value)?.slice(1) ?? []
  if (value === null || typeof value !== 'object') return []
  return Object.values(value).flatMap(findParameters)
}

/**
 * The query of a report with its parameters filled in. Throws `validation_failed` for a missing, unknown or invalid
 * parameter.
 * @param at JSON pointer of the object with the parameters in the caller's body
 */
export function fillQuery(
  { query, parameters }: Pick<ReportState, 'query' | 'parameters'>,
  { parameters: given, range, timeZone, limit }: RunReport,
  at = '',
): AnalyticsQuery {
  const values = checkValues(parameters, given, at)
  return AnalyticsQuery.parse({
    ...query,
    // Numbers in filters are doubles, so exact numbers are passed as text, which columns of tables can be compared
    // with.
    filters: replacePlaceholders(query.filters, exactNumbersAsText(values) as Values) ?? {},
    parameters: replacePlaceholders(query.parameters, values) ?? {},
    ...(range && { range }),
    ...(timeZone !== undefined && { timeZone }),
    ...(limit !== undefined && { limit }),
  })
}

function checkValues(parameters: readonly ReportParameter[], input: Values, at: string): Values {
  const details: ErrorDetail[] = []
  const wrong = (name: string, code: string, message: string) =>
    details.push({ in: 'body', path: `${at}/parameters/${pointerPart(name)}`, code, message })
  const names = parameters.map(({ name }) => name)
  for (const name of Object.keys(input))
    if (!names.includes(name)) wrong(name, 'unknown', 'is no parameter of the report')
  const values: Record<string, JsonValue> = {}
  for (const { name, type, required, default: preset } of parameters) {
    const value = input[name] ?? preset
    if (value === undefined) {
      if (required) wrong(name, 'required', 'has no value')
    } else if (!hasType(type, value))
      wrong(name, 'invalid_type', `must be ${type === 'boolean' ? 'true or false' : `a ${type}`}`)
    else values[name] = value
  }
  if (details.length > 0)
    throw new ApiError('validation_failed', 'The report cannot be run with these parameters.', { details })
  return values
}

const hasType = (type: ReportParameter['type'], value: unknown) =>
  value instanceof ExactNumber ? type === 'number' : typeof value === (type === 'text' ? 'string' : type)

/** Sample values of each parameter's type, to validate a query that is saved. */
export const sampleValues = (parameters: readonly ReportParameter[]): Record<string, JsonValue> =>
  Object.fromEntries(parameters.map(({ name, type, default: preset }) => [name, preset ?? samples[type]]))

const samples = { text: 'text', number: 1, boolean: true } satisfies Record<
  ReportParameter['type'],
  JsonValue
>
