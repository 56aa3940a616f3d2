import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openClient } from '@opsplane/postgres'
import { type Pooler, pgbouncer, startPooler } from './pooler.js'

const pooled = pgbouncer === undefined ? test.skip : test
const database = new URL(process.env.TEST_DATABASE_URL ?? '')
let pooler: Pooler | undefined

beforeAll(async () => {
  if (pgbouncer === undefined) return
  const users = { [database.username]: database.password }
  pooler = await startPooler({ databaseUrl: database.href, users })
})
afterAll(() => pooler?.stop())

pooled('a statement with parameters is answered that comes while every connection is busy', async () => {
  const sql = openClient(pooler?.urlOf(database.username) ?? '', { schema: 'public', max: 1 })
  try {
    await sql`select 1`
    for (let n = 0; n < 40; n++) {
      const [busy, behind] = [sql`select pg_sleep(0.005)`, sql`select ${n}::int as n`]
      expect(await Promise.all([busy, behind])).toMatchObject([{}, [{ n }]])
    }
    expect(await sql.begin((tx) => Promise.all([tx`select 1 as n`, tx`select ${2}::int as n`]))).toEqual([
      [{ n: 1 }],
      [{ n: 2 }],
    ])
  } finally {
    await sql.end({ timeout: 1 })
  }
})
