/** Fields of an error that contain only the platform's own terms, by the names under which they are logged. */
const ownFields = {
  code: 'code',
  errno: 'errno',
  syscall: 'syscall',
  severity: 'severity',
  schema: 'schema_name',
  table: 'table_name',
  column: 'column_name',
  constraint: 'constraint_name',
  routine: 'routine',
  status: 'status',
} as const

const maxMessage = 500
const maxCauses = 5

/**
 * An error for the log, without tenant data: quoted parts of messages, statement parameters, details from Postgres
 * and any further fields are left out. The same applies to its causes.
 */
export function loggedError(error: unknown, causesLeft = maxCauses): unknown {
  if (!(error instanceof Error)) return { type: error === null ? 'null' : typeof error }
  const { cause } = error
  return {
    type: error.name === 'Error' ? error.constructor.name : error.name,
    message: describeErrorSafely(error),
    ...fieldsOf(error),
    stack: framesOf(error),
    ...(cause !== undefined && causesLeft > 0 && { cause: loggedError(cause, causesLeft - 1) }),
    ...(error instanceof AggregateError &&
      causesLeft > 0 && {
        errors: error.errors.slice(0, maxCauses).map((inner) => loggedError(inner, causesLeft - 1)),
      }),
  }
}

/**
 * The first line of an error's message, with everything from the first to the last quotation mark replaced by
 * `"…"`.
 */
export function describeErrorSafely(error: Error): string {
  const [line = ''] = error.message.split('\n', 1)
  // The platform writes the statement; quotation marks in it enclose names.
  if (isStatement(error)) return line.slice(0, maxMessage)
  const quoted = withoutQuoted(line)
  const host: unknown = Reflect.get(error, 'hostname')
  return (typeof host === 'string' && host !== '' ? quoted.replaceAll(host, '…') : quoted).slice(
    0,
    maxMessage,
  )
}

/** In one pass, because the line may be very long and full of quotation marks. */
function withoutQuoted(line: string): string {
  const first = line.search(/["'`“]/)
  const last = Math.max(...['"', "'", '`', '”'].map((mark) => line.lastIndexOf(mark)))
  return first === -1 || last <= first ? line : `${line.slice(0, first)}"…"${line.slice(last + 1)}`
}

/** A failed drizzle statement, which stores tenant data separately, as parameters. */
const isStatement = (error: Error) => 'query' in error && 'params' in error

function fieldsOf(error: Error): Record<string, string | number> {
  const fields: Record<string, string | number> = {}
  for (const [name, source] of Object.entries(ownFields)) {
    const value: unknown = Reflect.get(error, source)
    if (typeof value === 'number' || (typeof value === 'string' && value.length <= 100)) fields[name] = value
  }
  return fields
}

const framesOf = ({ stack = '' }: Error) =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
