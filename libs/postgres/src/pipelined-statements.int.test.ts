import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type postgres from 'postgres'
import { openClient } from './index.js'

let observer: postgres.Sql
const url = process.env.TEST_DATABASE_URL ?? ''

beforeAll(async () => {
  observer = openClient(url, { schema: 'public', max: 1 })
  await observer`create table if not exists pipelined (kind text not null, n integer not null)`
})
afterAll(async () => {
  await observer`drop table pipelined`
  await observer.end()
})

test.each([1, 3])(
  'a transaction behind any number of statements keeps its own connection, in a pool of %i',
  async (max) => {
    const sql = openClient(url, { schema: 'public', max })
    for (let n = 0; n < 20; n++)
      await Promise.all(
        Array.from({ length: max }, () => sql`insert into pipelined select 'warm', ${n} from pg_sleep(0.01)`),
      )
    await observer`truncate pipelined`
    let expected = 0

    for (let behind = 90; behind <= 110; behind++) {
      const work: Promise<unknown>[] = []
      for (let n = 0; n < behind * max; n++)
        work.push(sql`insert into pipelined values ('statement', ${n})`.execute())
      work.push(
        sql.begin(async (tx) => {
          await tx`insert into pipelined values ('transaction', ${behind})`
        }),
      )
      for (let n = 0; n < 10; n++) work.push(sql`insert into pipelined values ('statement', ${n})`.execute())
      expected += behind * max + 11
      const settled = await Promise.allSettled(work)
      expect(settled.filter(({ status }) => status === 'rejected')).toEqual([])
    }
    await sql.end()
    expect(await observer`select count(*)::int as count from pipelined`).toEqual([{ count: expected }])
  },
)

test('a statement behind one that fails after some of its rows receives only its own rows', async () => {
  const sql = openClient(url, { schema: 'public', max: 1 })
  const failing = sql`select 1 / (4 - i) as quotient from generate_series(1, 10) i`
  await sql`select 1`
  const [failed, next] = await Promise.allSettled([
    failing.execute(),
    sql`select i from generate_series(1, 5) i`.execute(),
  ])
  await sql.end()
  expect(failed.status).toBe('rejected')
  expect(next).toMatchObject({ value: [1, 2, 3, 4, 5].map((i) => ({ i })) })
})
