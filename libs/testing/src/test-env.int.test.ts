import { describe, expect, test } from '@jest/globals'
import { connect } from '@nats-io/transport-node'
import postgres from 'postgres'
import { createDatabase, templateDatabase, testNatsUrl, uniquePrefix } from './test-env.js'

describe('the test environment', () => {
  test('prepares a template once and creates a separate copy for each caller', async () => {
    let migrations = 0
    const prepare = () =>
      templateDatabase('own-test', async (url) => {
        migrations++
        await run(url, 'create table things (name text)')
      })

    const [template] = await Promise.all([prepare(), prepare()])
    const [one, two] = await Promise.all([createDatabase(template), createDatabase(template)])
    await run(one.url, `insert into things values ('only in one')`)

    expect(migrations).toBe(1)
    expect(await run(one.url, 'select name from things')).toEqual([{ name: 'only in one' }])
    expect(await run(two.url, 'select name from things')).toEqual([])
    await Promise.all([one.drop(), two.drop()])
  })

  test('drops a database, also one in use', async () => {
    const { url, drop } = await createDatabase()
    const sql = postgres(url, { max: 1, onclose: () => undefined })
    await sql`select 1`

    await drop()

    await expect(run(url, 'select 1')).rejects.toThrow(/does not exist/)
    await sql.end({ timeout: 1 })
  })

  test('has a NATS server with JetStream', async () => {
    const connection = await connect({ servers: testNatsUrl() })

    expect(connection.info?.jetstream).toBe(true)
    await connection.close()
  })

  test('creates prefixes that are valid in subjects and stream names', () => {
    expect(uniquePrefix()).toMatch(/^[a-z][a-z0-9]+$/)
    expect(uniquePrefix()).not.toBe(uniquePrefix())
  })
})

async function run(url: string, statement: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1 })
  try {
    return [...(await sql.unsafe(statement))]
  } finally {
    await sql.end({ timeout: 1 })
  }
}
