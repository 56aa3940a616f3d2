import { ApiError, type ErrorDetail, stringifyExact, type TableState } from '@opsplane/contracts'
import { jsonPointer, validationFailed } from '@opsplane/http'
import { isTransient, translatePostgresError } from '@opsplane/postgres'
import { buildConstraintName } from './constraint-name.js'
import type { Values } from './input.js'

/** Properties of a Postgres error. */
interface Refusal {
  code: string
  message: string
  detail?: string
  column_name?: string
  constraint_name?: string
  table_name?: string
}

const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'

/** Whether the table no longer matches the cached definition: it was altered or dropped in the meantime. */
export const isOutdated = (error: unknown): boolean =>
  isRefusal(error) && ['42P01', '42703', '42883', '42804', '3F000', '55000'].includes(error.code)

/** Whether a single row caused the error, so that writing rows separately identifies it. */
export const isRefusedRow = (error: unknown): boolean =>
  isRefusal(error) && (/^2[23]/.test(error.code) || ['428C9', '21000', '54000'].includes(error.code))

/**
 * The API error for a write that Postgres rejected. `path` is the place of the values in the body; `values` is the row,
 * if it is known to be the cause; `column` is the one that could not be parsed.
 */
export function writeFailure(
  error: unknown,
  table: TableState,
  path = '',
  values: Values = {},
  column?: string,
): unknown {
  if (!isRefusal(error)) return translatePostgresError(error)
  const columns = columnsOf(error)
  const place = (name: string | undefined) =>
    name === undefined ? { path } : { path: `${path}${jsonPointer([name])}`, ...shownValue(values[name]) }
  const at = place(columns.length === 1 ? columns[0] : undefined)
  const key = keyOf(error)
  switch (error.code) {
    case '23505': {
      const message = `There is a record with the same ${formatColumns(columns)} already${key ? `: ${key}` : ''}.`
      return conflict({ ...at, ...(key && { value: key }) }, 'not_unique', message, error)
    }
    case '23503': {
      if (!error.message.startsWith('insert or update'))
        return conflict(
          { path },
          'referenced',
          `Records of ${error.table_name ?? 'another table'} refer to it.`,
          error,
        )
      const message = `refers to a record that does not exist${key ? `: ${key}` : ''}`
      return validationError({ ...at, ...(key && { value: key }) }, 'not_found', message, error)
    }
    case '23502':
      return validationError(place(error.column_name ?? ''), 'required', 'must not be null', error)
    case '23514': {
      const { constraint_name: check = 'of the table' } = error
      const of = place(columnOfCheck(table, check))
      const value = of.value === undefined ? '' : `: ${of.value}`
      return validationError(of, 'check_failed', `breaks the check ${check}${value}`, error)
    }
    case '428C9':
      return validationError(
        place(filledOf(error)),
        'invalid_value',
        'is filled by Postgres, so it cannot be given',
        error,
      )
    case '21000':
      return validationError({ path }, 'not_unique', 'has two records of the same key', error)
    case '54000':
      return validationError({ path }, 'too_big', 'makes a record larger than 256 KiB', error)
    case '42P10':
      return validationError(
        { path: '/on' },
        'invalid_value',
        `names no unique columns of ${table.slug}`,
        error,
      )
    default:
      if (isUnreadable(error))
        return validationError(place(column), 'invalid_value', `is refused: ${error.message}`, error)
      if (isTransient(error))
        return new ApiError(
          'service_unavailable',
          'Other transactions held the lock for too long. Try again.',
          {
            cause: error,
          },
        )
      return translatePostgresError(error)
  }
}

const maxOfValue = 200

/** A value as shown in a message. */
const shownValue = (value: unknown): { value?: string } =>
  value === undefined || value === null
    ? {}
    : { value: (typeof value === 'string' ? value : stringifyExact(value)).slice(0, maxOfValue) }

/** The column of a check, if it refers to exactly one. */
function columnOfCheck({ slug, columns, checks }: TableState, constraint: string): string | undefined {
  const ofEnum = columns.find(
    ({ name, type }) => type === 'enum' && buildConstraintName(slug, name, 'enum') === constraint,
  )
  if (ofEnum) return ofEnum.name
  const expression = checks.find(({ name }) => name === constraint)?.expression ?? ''
  const words = expression.match(/"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*/gu) ?? []
  const called = new Set(words.map((word) => word.replaceAll('"', '')))
  const of = columns.filter(({ name }) => called.has(name))
  return of.length === 1 ? of[0]?.name : undefined
}

/** Whether a value cannot be parsed as the required type. */
export const isUnreadable = (error: unknown): boolean => isRefusal(error) && error.code.startsWith('22')

/** The API error for a read that Postgres rejected or that timed out. */
export function readFailure(error: unknown): unknown {
  if (isRefusal(error) && isUnreadable(error)) {
    // Operands were validated, so the column has a different type by now, which the cached
    // definition does not include yet.
    const message = `cannot be evaluated on a record: ${error.message}`
    return validationFailed([{ in: 'query', path: '/filter', code: 'invalid_value', message }])
  }
  if (isRefusal(error) && error.code === '57014')
    return new ApiError('upstream_timeout', 'The query took too long. Request less, or add an index.', {
      cause: error,
    })
  return translatePostgresError(error)
}

/** Columns in a message such as `Key (a, b)=(1, 2) already exists.` */
const columnsOf = ({ detail }: Refusal): string[] => {
  const names = /^Key \(([^)]+)\)=/.exec(detail ?? '')?.[1]
  return names === undefined ? [] : names.split(', ').map((name) => name.replaceAll('"', ''))
}

/** Values in such a message, which belong to the rejected row. */
const keyOf = ({ detail }: Refusal): string | undefined =>
  /^Key \([^)]+\)=\((.*?)\) (?:already exists|is not present)/s.exec(detail ?? '')?.[1]?.slice(0, maxOfValue)

/** Column in a message such as `Column "a" is an identity column defined as GENERATED ALWAYS.` */
const filledOf = ({ detail }: Refusal): string => /^Column "(.+?)" /.exec(detail ?? '')?.[1] ?? ''

const formatColumns = (columns: readonly string[]) => (columns.length > 0 ? columns.join(' and ') : 'key')

/** A place in the body and the value there. */
interface Cause {
  path: string
  value?: string
}

const detailOf = ({ path, value }: Cause, code: string, message: string): ErrorDetail => ({
  ...{ in: 'body', path, code, message },
  ...(value !== undefined && { params: { value } }),
})

const conflict = (at: Cause, code: string, message: string, cause: unknown) =>
  new ApiError('conflict', message, { details: [detailOf(at, code, message)], cause })

const validationError = (at: Cause, code: string, message: string, cause: unknown) => {
  const error = validationFailed([detailOf(at, code, message)])
  error.cause = cause
  return error
}

/** Error for a change by filter that matches more records than the limit. */
export const tooManyError = (limit: number) =>
  new ApiError('validation_failed', `More than ${limit} records match, so none was changed.`, {
    details: [
      {
        in: 'body',
        path: '/limit',
        code: 'too_many',
        message: 'is smaller than the number of records that match',
      },
    ],
  })
