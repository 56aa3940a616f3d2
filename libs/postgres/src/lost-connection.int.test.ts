import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql as statement } from 'drizzle-orm'
import postgres from 'postgres'
import { connect, type Database, isDatabaseUnavailable, openClient } from './index.js'

const url = process.env.TEST_DATABASE_URL ?? ''
const schema = 'lost_connection_test'
let admin: postgres.Sql
let database: Database

beforeAll(async () => {
  admin = postgres(url, { max: 1, onnotice: () => undefined })
  await admin.unsafe(`drop schema if exists ${schema} cascade; create schema ${schema};
    create table ${schema}.notes (text text)`)
  database = connect(url, { schema, max: 1, applicationName: schema })
})
afterAll(async () => {
  await database.close()
  await admin.unsafe(`drop schema ${schema} cascade`)
  await admin.end()
})

/** Terminates every connection of the pool under test, as a crash of Postgres does. */
const cutOff = () =>
  admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${schema}`

const notes = async () => (await admin.unsafe(`select text from ${schema}.notes`)).map((row) => row.text)

test('a transaction whose connection is lost writes nothing afterwards, not even on another connection', async () => {
  let insertedAfter: Promise<unknown> = Promise.resolve()
  const outcome = await new Promise<unknown>((resolve) => {
    const transaction = database.db.transaction(async (tx) => {
      await tx.execute(statement`insert into notes values ('before')`)
      await cutOff()
      // The pool reconnects for another caller while the transaction is busy elsewhere.
      while ((await database.db.execute(statement`select 1`).catch(() => [])).length === 0) await turn()
      insertedAfter = tx.execute(statement`insert into notes values ('after')`)
      insertedAfter
        .catch(() => undefined)
        .finally(() => resolve(transaction.catch((error: unknown) => error)))
      await insertedAfter
    })
    transaction.catch(() => undefined)
  })
  await expect(insertedAfter).rejects.toThrow()
  expect(isDatabaseUnavailable(outcome)).toBe(true)
  expect(await notes()).toEqual([])
})

test('statements on a cut connection fail or succeed, and the pool is usable again', async () => {
  const client = openClient(url, { schema, max: 4, applicationName: schema })
  for (let round = 0; round < 6; round++) {
    const statements = Array.from({ length: 12 }, (_, n) =>
      client`select ${n}::int as n`.catch((error: unknown) => error),
    )
    const transactions = Array.from({ length: 4 }, () =>
      client
        .begin(async (tx) => {
          await tx`select 1`
          await turn()
          await tx`select 2`
        })
        .catch((error: unknown) => error),
    )
    await cutOff()
    for (const outcome of await Promise.all([...statements, ...transactions])) {
      if (outcome instanceof Error) expect(isDatabaseUnavailable(outcome)).toBe(true)
    }
  }
  // A connection that is being terminated may accept one more statement; after that, every statement works again.
  while ((await client`select 1 as one`.catch(() => [])).length === 0) await turn()
  await client.end({ timeout: 1 })
})

test('a rejected login counts as an unavailable database, and succeeds once its password is right again', async () => {
  await admin.unsafe(`drop role if exists ${schema}; create role ${schema} login password 'old';
    grant usage on schema ${schema} to ${schema}; grant select on ${schema}.notes to ${schema}`)
  const entry = new URL(url)
  entry.username = schema
  entry.password = 'new'
  const client = openClient(entry.href, { schema, max: 1 })
  const refusal = await client`select 1`.catch((error: unknown) => error)
  expect(refusal).toMatchObject({ code: '28P01' })
  expect(isDatabaseUnavailable(refusal)).toBe(true)
  await admin.unsafe(`alter role ${schema} password 'new'`)
  expect([...(await client`select 1 as one`)]).toEqual([{ one: 1 }])
  await client.end({ timeout: 1 })
  await admin.unsafe(`drop owned by ${schema}; drop role ${schema}`)
})

test('a connection that is cut while it opens does not end the process', async () => {
  const script = fileURLToPath(new URL('./fixture/connect-and-be-cut.js', import.meta.url))
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const output: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk))
  const [code] = await once(child, 'close')
  expect({ code, output: Buffer.concat(output).toString() }).toEqual({ code: 0, output: '' })
})
