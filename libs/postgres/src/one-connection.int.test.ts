import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { connect, type Database } from './database.js'
import { withGuardedConnections } from './one-connection.js'

const refused = /by the transaction, not by its pool/
let database: Database

beforeAll(async () => {
  const open = async () => connect(process.env.TEST_DATABASE_URL ?? '', { schema: 'public', max: 2 })
  database = await withGuardedConnections(open)
})
afterAll(() => database.close())

describe('code in a transaction', () => {
  it.each<[string, (database: Database) => PromiseLike<unknown>]>([
    ['a text', ({ sql: pool }) => pool.unsafe('select 1')],
    ['a template', ({ sql: pool }) => pool`select 1`],
    ['a transaction of its own', ({ sql: pool }) => pool.begin((tx) => tx`select 1`)],
  ])('may not send %s through the pool', async (_, send) => {
    await expect(database.sql.begin(async () => send(database))).rejects.toThrow(refused)
    await expect(database.sql.begin((tx) => tx.savepoint(async () => send(database)))).rejects.toThrow(
      refused,
    )
  })

  it('may not send a query through the query builder of the pool', async () => {
    const { db } = database
    const sent = db.transaction(() => db.execute(sql`select 1`))
    await expect(sent).rejects.toMatchObject({ cause: { message: expect.stringMatching(refused) } })
  })

  it('may send through the transaction, and through another pool', async () => {
    const one = await database.sql.begin(async (tx) => {
      await database.db.execute(sql`select 1`)
      return tx.savepoint((inner) => inner`select ${tx(['n'])} from (values (1)) as v (n)`)
    })
    expect([...one]).toEqual([{ n: 1 }])
  })

  it('may start work that uses the pool once the transaction has ended', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const work = await database.sql.begin(async () => [ended.then(() => database.sql`select 1 as n`)])
    end()
    expect(await Promise.all(work)).toEqual([[{ n: 1 }]])
  })
})
