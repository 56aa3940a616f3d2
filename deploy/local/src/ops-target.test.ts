import { expect, test } from '@jest/globals'
import { explainDatabaseError } from './ops-target.js'

const url = 'postgres://admin:hidden@db.example:5432/platform'
const refusal = (code: string) => Object.assign(new Error('as Postgres says it'), { code })

test.each([
  ['ECONNREFUSED', 'away', 'does not answer'],
  ['57P03', 'away', 'is starting or stopping'],
  ['53300', 'away', 'has no connection left'],
  ['25006', 'away', 'Wait until it is promoted'],
  ['28P01', 'refused', 'Name a superuser'],
  ['42501', 'refused', 'Name a superuser'],
  ['42P01', 'refused', 'npm start makes the tables'],
])('the Postgres error %s is explained without printing the password', (code, reason, words) => {
  const explained = explainDatabaseError(refusal(code), url)
  expect(explained).toMatchObject({ reason, message: expect.stringContaining(words) })
  expect(String(explained)).not.toContain('hidden')
})

test('any other error is passed on unchanged', () => {
  const error = refusal('23505')
  expect(explainDatabaseError(error, url)).toBe(error)
})
