import { afterAll, beforeAll, expect, test } from '@jest/globals'

import { knowsAllLetters, learnAllLetters } from '@opsplane/postgres'
import postgres from 'postgres'
import { createAsciiDatabase, type TestDatabase } from './test-env.js'

let database: TestDatabase
let sql: postgres.Sql

beforeAll(async () => {
  database = await createAsciiDatabase()
  sql = postgres(database.url, { max: 1 })
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await database?.drop()
})

test('a locale the machine does not have changes nothing', async () => {
  await expect(learnAllLetters(database.url, ['xx_XX.UTF-8'])).rejects.toThrow('has no locale xx_XX.UTF-8')
  expect(await knowsAllLetters(sql)).toBe(false)
})

test('a database of another kind stays as it is', async () => {
  const name = `${new URL(database.url).pathname.slice(1)}_bytes`
  await sql`create database ${sql(name)} template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'`
  try {
    await expect(learnAllLetters(database.url.replace(/[^/]+$/, name))).rejects.toThrow('SQL_ASCII')
  } finally {
    await sql`drop database ${sql(name)} with (force)`
  }
})

test('a database with the LC_CTYPE C learns all letters, for sessions that are open too, and sorts as before', async () => {
  const [before] = await sql`select lower('Ж'), pg_backend_pid() as pid`
  expect(before).toMatchObject({ lower: 'Ж' })

  await sql`create table notes (text text, words tsvector generated always as (to_tsvector('simple', text)) stored)`
  expect(await learnAllLetters(database.url)).toEqual({ changed: true, schemas: ['public'] })

  const [after] = await sql`
    select lower('Ж'), pg_backend_pid() as pid, 'я' < 'é' as by_language, datcollate, datctype
    from pg_database where datname = current_database()`
  expect(after).toMatchObject({ lower: 'ж', by_language: false, datcollate: 'C', datctype: 'C.UTF-8' })
  expect(after?.pid).not.toBe(before?.pid)
  expect(await knowsAllLetters(sql)).toBe(true)
  expect(await learnAllLetters(database.url)).toEqual({ changed: false, schemas: ['public'] })
})
