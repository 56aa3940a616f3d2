import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { LeaseRequest } from '@opsplane/runtime'
import { connect, type Database, grantBudgetLeases } from './index.js'

const schema = 'budget_leases_test'
let database: Database

beforeAll(async () => {
  database = connect(process.env.TEST_DATABASE_URL ?? '', { schema, max: 8 })
  await database.sql.unsafe(`drop schema if exists ${schema} cascade; create schema ${schema};
    create table ${schema}.budget_leases (name text, holder text, owner text, amount bigint not null,
      expires_at timestamptz not null, constraint budget_leases_pkey primary key (name, holder, owner))`)
})
beforeEach(() => database.sql`truncate budget_leases`)
afterAll(async () => {
  await database.sql.unsafe(`drop schema ${schema} cascade`)
  await database.close()
})

const held: LeaseRequest = {
  name: 'openPolls',
  holder: 'ws_1',
  wanted: 10,
  most: 100,
  ms: 30_000,
  windowed: false,
}
const lease = async (owner: string, ...asks: Partial<LeaseRequest>[]) => {
  const all = asks.map((ask) => ({ ...held, ...ask }))
  return (await grantBudgetLeases(database.sql, owner, all)).map(({ granted }) => granted)
}

test('replicas never lease more than the budget together, even with concurrent requests', async () => {
  const owners = Array.from({ length: 20 }, (_, at) => `replica-${at}`)
  const granted = await Promise.all(owners.map((owner) => lease(owner, { wanted: 9 })))
  expect(granted.flat().reduce((sum, amount) => sum + amount, 0)).toBe(100)
})

test('a lease replaces the previous one, and frees the difference for others', async () => {
  expect(await lease('a', { wanted: 90 })).toEqual([90])
  expect(await lease('b', { wanted: 90 })).toEqual([10])
  expect(await lease('a', { wanted: 20 })).toEqual([20])
  expect(await lease('b', { wanted: 90 })).toEqual([80])
})

test('leases several budgets in one request, each separately', async () => {
  await lease('a', { wanted: 95 })
  const asks = [{ wanted: 50 }, { holder: 'ws_2', wanted: 50 }, { name: 'openPollsPerKey' as const, most: 7 }]
  expect(await lease('b', ...asks)).toEqual([5, 50, 7])
})

test('expired leases do not count, and are deleted by later requests', async () => {
  await lease('a', { wanted: 100 })
  await database.sql`update budget_leases set expires_at = clock_timestamp() - interval '2 minutes'`
  expect(await lease('b', { wanted: 100 })).toEqual([100])
  expect(await database.sql`select owner from budget_leases`).toEqual([{ owner: 'b' }])
})

test('a window ends at the same instant for every replica', async () => {
  const ask = { ...held, name: 'workspaceRequestsPerMinute' as const, ms: 86_400_000, windowed: true }
  await grantBudgetLeases(database.sql, 'a', [ask])
  await grantBudgetLeases(database.sql, 'b', [ask])
  const rows = await database.sql`select distinct expires_at from budget_leases`
  expect(rows).toHaveLength(1)
})
