import { describe, expect, test } from '@jest/globals'
import { createLogger } from './index.js'

const theirs = 'jane@tenant.example'

class DrizzleQueryError extends Error {
  constructor(
    readonly query: string,
    readonly params: unknown[],
    cause: Error,
  ) {
    super(`Failed query: ${query}\nparams: ${params}`, { cause })
  }
}

const refused = Object.assign(new Error('duplicate key value violates unique constraint "users_email"'), {
  name: 'PostgresError',
  code: '23505',
  severity: 'ERROR',
  detail: `Key (email)=(${theirs}) already exists.`,
  where: `PL/pgSQL function f("${theirs}") line 3`,
  constraint_name: 'users_email',
  table_name: 'users',
  query: `insert into users values ('${theirs}')`,
  parameters: [theirs],
})

const notJson = () => {
  try {
    return JSON.parse(`${theirs} is "no" JSON`)
  } catch (error) {
    return error
  }
}
const notUrl = () => {
  try {
    return new URL(`//${theirs}`)
  } catch (error) {
    return error
  }
}

function logged(fields: object, options: { tenantData?: boolean } = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLogger({ service: 'sut', level: 'info', destination, ...options })
  log.error(fields, 'it failed')
  return lines.join('')
}

describe('logging an error', () => {
  test.each<[string, unknown]>([
    ['a failed query', new DrizzleQueryError('insert into users values ($1)', [theirs], refused)],
    ['what Postgres refused', refused],
    ['what is no JSON', notJson()],
    ['what is no URL', notUrl()],
    ['a cause of a cause', new Error('outer', { cause: new Error('inner', { cause: refused }) })],
    ['several errors', new AggregateError([refused, notJson()], 'all failed')],
    ['a text that is quoted', new Error(`the name "${theirs}" is taken`)],
    ['more lines', new Error(`failed:\n${theirs}`)],
    ['what is no error', { message: theirs, detail: theirs }],
    ['a text', theirs],
  ])('omits everything a tenant wrote: %s', (_what, error) => {
    expect(logged({ err: error })).not.toContain(theirs)
    expect(logged({ err: error })).toContain('"msg":"it failed"')
  })

  test('keeps the code, the constraint, the statement without its parameters, and the stack', () => {
    const error = new DrizzleQueryError('insert into users values ($1)', [theirs], refused)
    const { err } = JSON.parse(logged({ err: error }))
    expect(err).toMatchObject({
      message: 'Failed query: insert into users values ($1)',
      cause: { type: 'PostgresError', code: '23505', constraint: 'users_email', table: 'users' },
    })
    expect(err.stack).toMatch(/^\s+at .*logged-error\.test/)
  })

  test('includes tenant data only when that is enabled', () => {
    expect(logged({ err: refused }, { tenantData: true })).toContain(theirs)
  })

  // It would take minutes if each mark were tried as the first one.
  test('removes quoted text in one pass, however many quotation marks there are', () => {
    const { err } = JSON.parse(logged({ err: new Error(`bad “ ${'“'.repeat(1_000_000)}`) }))
    expect(err.message).toMatch(/^bad “/)
    const closed = JSON.parse(logged({ err: new Error(`bad ${'“'.repeat(1_000_000)}${theirs}” end`) }))
    expect(closed.err.message).toBe('bad "…" end')
  })
})
