import { expect, test } from '@jest/globals'
import { hasUnicodeLocale } from '@opsplane/postgres'
import postgres from 'postgres'
import { createAsciiDatabase, createDatabase } from './test-env.js'

test.each([
  ['C', false, createAsciiDatabase],
  ['C.UTF-8', true, createDatabase],
] as const)('with the LC_CTYPE %s a database supports letters beyond ASCII: %s', async (_, knows, create) => {
  const database = await create()
  const sql = postgres(database.url, { max: 1 })
  try {
    expect(await hasUnicodeLocale(sql)).toBe(knows)
  } finally {
    await sql.end({ timeout: 1 })
    await database.drop()
  }
})
