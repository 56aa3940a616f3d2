import { expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { describeFailure } from './failure.js'

class OrderRefused extends Error {}
const withCode = (code: unknown, error = new Error('salary of Grace')) => Object.assign(error, { code })

test.each<[string, unknown, string]>([
  ['a code of the platform', new ApiError('service_unavailable', 'salary of Grace'), 'service_unavailable'],
  ['one of Postgres', withCode('23505'), '23505'],
  ['one of Node', withCode('ECONNREFUSED'), 'ECONNREFUSED'],
  ['that of a cause', new Error('salary of Grace', { cause: withCode('40001') }), '40001'],
  ['a class, where there is no code', new OrderRefused('salary of Grace'), 'OrderRefused'],
  ['a class, where a tenant has made up the code', withCode('salary_of_grace'), 'Error'],
  [
    'a class, where the name was set',
    Object.assign(new TypeError('x'), { name: 'salary of Grace' }),
    'TypeError',
  ],
  ['a type, where no error was thrown', 'salary of Grace', 'string'],
])('reports as the cause of a failure %s, and quotes nothing', (_, error, cause) => {
  expect(describeFailure(error).cause).toBe(cause)
})

test('stops at a cycle of causes', () => {
  const circle: Error = new Error('a')
  circle.cause = circle
  expect(describeFailure(circle)).toEqual({ error: 'Error: a', cause: 'Error' })
})
