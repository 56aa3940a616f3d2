import { ApiError, type ErrorDetail, type TableState } from '@opsplane/contracts'
import { validationFailed } from '@opsplane/http'
import { isTransient, translatePostgresError } from '@opsplane/postgres'

/** What Postgres says of a statement it refused. */
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

/** Whether the table is not as its definition said: it was altered or dropped meanwhile. */
export const isOutdated = (error: unknown): boolean =>
  isRefusal(error) && ['42P01', '42703', '42883', '42804', '3F000', '55000'].includes(error.code)

/** What a client is answered for a write that Postgres refused; `path` is where its values stand in the body. */
export function writeFailure(error: unknown, table: TableState, path = ''): unknown {
  if (!isRefusal(error)) return translatePostgresError(error)
  const columns = columnsOf(error)
  const at = columns.length === 1 ? `${path}/${columns[0]}` : path
  switch (error.code) {
    case '23505':
      return conflict(at, 'not_unique', `There is a record with the same ${named(columns)} already.`, error)
    case '23503':
      return error.message.startsWith('insert or update')
        ? refused(at, 'not_found', 'refers to a record that does not exist', error)
        : conflict(
            path,
            'referenced',
            `Records of ${error.table_name ?? 'another table'} refer to it.`,
            error,
          )
    case '23502':
      return refused(`${path}/${error.column_name ?? ''}`, 'required', 'must not be null', error)
    case '23514':
      return refused(
        path,
        'check_failed',
        `breaks the check ${error.constraint_name ?? 'of the table'}`,
        error,
      )
    case '428C9':
      return refused(
        `${path}/${filledOf(error)}`,
        'invalid_value',
        'is filled by Postgres, so it cannot be given',
        error,
      )
    case '21000':
      return refused(path, 'not_unique', 'has two records of the same key', error)
    case '54000':
      return refused(path, 'too_big', 'makes a record larger than 256 KiB', error)
    case '42P10':
      return refused('/on', 'invalid_value', `names no unique columns of ${table.slug}`, error)
    default:
      if (isUnreadable(error)) return refused(path, 'invalid_value', `is refused: ${error.message}`, error)
      if (isTransient(error))
        return new ApiError('service_unavailable', 'Others were in the way for too long. Try again.', {
          cause: error,
        })
      return translatePostgresError(error)
  }
}

/** Whether there is a value that is none of the type it is read as. */
export const isUnreadable = (error: unknown): boolean => isRefusal(error) && error.code.startsWith('22')

/** What a client is answered for a read that Postgres refused, or could not do in time. */
export function readFailure(error: unknown): unknown {
  if (isRefusal(error) && isUnreadable(error)) {
    // Operands are parsed: it is the column that has another type by now, which the definition in hand does not know yet.
    const message = `cannot be held against a record: ${error.message}`
    return validationFailed([{ in: 'query', path: '/filter', code: 'invalid_value', message }])
  }
  if (isRefusal(error) && error.code === '57014')
    return new ApiError('upstream_timeout', 'Reading this takes too long. Ask for less, or add an index.', {
      cause: error,
    })
  return translatePostgresError(error)
}

/** `Key (a, b)=(1, 2) already exists.` */
const columnsOf = ({ detail }: Refusal): string[] => {
  const names = /^Key \(([^)]+)\)=/.exec(detail ?? '')?.[1]
  return names === undefined ? [] : names.split(', ').map((name) => name.replaceAll('"', ''))
}

/** `Column "a" is an identity column defined as GENERATED ALWAYS.` */
const filledOf = ({ detail }: Refusal): string => /^Column "(.+?)" /.exec(detail ?? '')?.[1] ?? ''

const named = (columns: readonly string[]) => (columns.length > 0 ? columns.join(' and ') : 'key')

const detailOf = (path: string, code: string, message: string): ErrorDetail => ({
  in: 'body',
  path,
  code,
  message,
})

const conflict = (path: string, code: string, message: string, cause: unknown) =>
  new ApiError('conflict', message, { details: [detailOf(path, code, message)], cause })

const refused = (path: string, code: string, message: string, cause: unknown) => {
  const error = validationFailed([detailOf(path, code, message)])
  error.cause = cause
  return error
}

/** A change by a filter that matches more than may be changed. */
export const tooMany = (limit: number) =>
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
