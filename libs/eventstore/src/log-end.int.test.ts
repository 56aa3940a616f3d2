import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { openClient } from '@opsplane/postgres'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@opsplane/postgres/embedded'
import { durablePosition, logEdge } from './log-end.js'

const root = mkdtempSync(join(tmpdir(), 'opsplane-log-end-'))
let server: EmbeddedPostgres | undefined
afterAll(async () => {
  await server?.stop()
  rmSync(root, { recursive: true, force: true })
})

const start = async (port?: number) => {
  server = await startEmbeddedPostgres({ dataDir: join(root, 'data'), port })
  return { server, sql: openClient(server.url, { schema: 'public', max: 2 }) }
}

test('Postgres does not reissue positions up to the durable position after a crash', async () => {
  const before = await start()
  await before.sql`create sequence events_position_seq`
  await before.sql`create table outbox (position bigint default nextval('events_position_seq'))`
  const failed = before.sql.begin(async (tx) => {
    await tx`insert into outbox select from generate_series(1, 2000)`
    throw new Error('it fails after it has drawn its positions')
  })
  await expect(failed).rejects.toThrow('it fails')
  const remembered = await durablePosition(before.sql)
  const { history } = await logEdge(before.sql)
  process.kill(before.server.pid, 'SIGKILL')
  await before.sql.end({ timeout: 0 })

  const after = await start(before.server.port)
  const [row] = await after.sql<{ position: string }[]>`insert into outbox default values returning position`
  const edge = await logEdge(after.sql)
  await after.sql.end()
  expect(remembered).toBe(2_000)
  expect(edge.history).not.toBe(history)
  expect(Number(row?.position)).toBeGreaterThan(remembered)
})
