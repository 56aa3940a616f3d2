import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import {
  answerToPostgresError,
  connect,
  connectionShortage,
  minConnections,
  readConnectionCapacity,
} from '@opsplane/postgres'
import { startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import postgres from 'postgres'
import { waitFor } from './wait-for.js'

const url = process.env.TEST_DATABASE_URL ?? ''

test.each([minConnections, 5, 6, 7, 24])(
  'a database with a limit of %i connections opens exactly as many under load',
  async (connections) => {
    const applicationName = `bounded-${randomUUID()}`
    const database = connect(url, { schema: 'public', applicationName, connections })
    const admin = postgres(url, { max: 1, onnotice: () => {} })
    const open = async () => {
      const rows = await admin`select pid from pg_stat_activity where application_name = ${applicationName}`
      return rows.length
    }
    const lock = 7_400_000 + connections
    // All queries wait for this lock until every possible connection is open.
    await admin`select pg_advisory_lock(${lock})`
    try {
      const wait = `select pg_advisory_lock_shared(${lock}), pg_advisory_unlock_shared(${lock})`
      const asked = Array.from({ length: connections * 2 }, () => [
        database.sql.unsafe(wait),
        database.planned.unsafe(wait),
        database.db.execute(wait),
      ]).flat()
      const answered = Promise.all(asked)
      await waitFor(async () => (await open()) === connections)
      await admin`select pg_advisory_unlock(${lock})`
      await answered
      expect(await open()).toBe(connections)
    } finally {
      await database.close()
      await admin.end({ timeout: 5 })
    }
  },
)

test('a server without free connections is reported with its reserved and used connections', async () => {
  const server = await startEmbeddedPostgres({
    dataDir: `${process.env.TMPDIR ?? '/tmp'}/opsplane-full-${randomUUID()}`,
    flags: ['max_connections=6', 'superuser_reserved_connections=2', 'max_wal_senders=0'],
  })
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  try {
    await admin`create role guest login password 'guest'`
    const guest = Object.assign(new URL(server.url), { username: 'guest', password: 'guest' }).href
    const others = connect(guest, { schema: 'public', connections: 3 })
    await Promise.all([others.sql`select 1`, others.planned`select 1`, others.db.execute('select 1')])
    const room = await readConnectionCapacity(others.sql)
    // The administrator's connection, and the guest's other two.
    expect(room).toEqual({ max: 6, reserved: 2, used: 3 })
    expect(connectionShortage(1, room)).toBeUndefined()
    expect(connectionShortage(2, room)).toMatch(/^Postgres has 1 connections left, and up to 2 are needed/)

    const late = connect(guest, { schema: 'public', connections: 3 })
    const refused: unknown = await late.sql`select 1`.catch((error: unknown) => error)
    const answer = answerToPostgresError(refused)
    expect(answer).toBeInstanceOf(ApiError)
    expect(String(answer)).toContain('The database has no connection left.')
    await Promise.all([others.close(), late.close()])
  } finally {
    await admin.end({ timeout: 5 })
    await server.stop()
  }
})
