import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { freePort, waitForExit } from '@opsplane/runtime/server-process'
import postgres from 'postgres'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded.js'

describe('embedded Postgres', () => {
  let root: string
  let running: EmbeddedPostgres | undefined

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'opsplane-pg-'))
  })

  afterEach(async () => {
    await running?.stop()
    running = undefined
    rmSync(root, { recursive: true, force: true })
  })

  const start = async (port?: number) => {
    running = await startEmbeddedPostgres({ dataDir: join(root, 'data'), port })
    return running
  }

  test('keeps its data over a restart, is used by one process only, and ends when stopped', async () => {
    const first = await start()
    await query(first.url, (sql) => sql`create table kept as select 42 as answer`)
    await expect(startEmbeddedPostgres({ dataDir: join(root, 'data') })).rejects.toThrow(
      `is in use by process ${process.pid}`,
    )
    await first.stop()
    expect(await waitForExit(first.pid, 0)).toBe(true)

    const second = await start(first.port)

    expect(second.url).toBe(first.url)
    expect(await query(second.url, (sql) => sql`select answer from kept`)).toEqual([{ answer: 42 }])
    expect(await sorting(second.url)).toEqual({
      ...{ datcollate: 'C', encoding: 'UTF8', connections: '200' },
      ...{ lower: 'принтер ή ü', sorted: ['B', '_', 'a', 'é', 'я', 'Ａ', '😀'] },
    })
  })

  test('starts again with committed data after its postmaster is killed while a query runs', async () => {
    const first = await start()
    await query(first.url, (sql) => sql`create table kept as select 42 as answer`)
    const busy = query(first.url, (sql) => sql`select pg_sleep(60)`).catch(() => 'cut off')
    await query(first.url, async (sql) => {
      for (let found = 0; found === 0; ) {
        ;[{ found = 0 } = {}] = await sql<{ found: number }[]>`
          select count(*)::int as found from pg_stat_activity where query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`
      }
    })
    process.kill(first.pid, 'SIGKILL')

    const second = await start(first.port)

    expect(await query(second.url, (sql) => sql`select answer from kept`)).toEqual([{ answer: 42 }])
    expect(await busy).toBe('cut off')
  })

  test('is detected as ready while waiting clients fill its log', async () => {
    const port = await freePort()
    let waiting = true
    const knock = () => {
      const client = connect({ port, host: '127.0.0.1' }, () => client.destroy())
      client.on('error', () => undefined)
      client.on('close', () => waiting && setTimeout(knock, 1))
    }
    for (let client = 0; client < 20; client++) knock()

    running = await startEmbeddedPostgres({
      ...{ dataDir: join(root, 'data'), port, flags: ['log_min_messages=debug5'] },
    }).finally(() => {
      waiting = false
    })

    expect(await query(running.url, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
  })

  test('uses an available locale when the preferred one is missing, and logs that', async () => {
    const lines: string[] = []
    running = await startEmbeddedPostgres({
      ...{ dataDir: join(root, 'data'), ctypes: ['xx_XX.UTF-8', 'C'] },
      onLog: (line) => lines.push(line),
    })

    const rows = await query(running.url, (sql) => sql`select datctype from pg_database`)

    expect(new Set(rows.map(({ datctype }) => datctype))).toEqual(new Set(['C']))
    expect(lines).toContain('made with LC_CTYPE C, as this machine has no xx_XX.UTF-8')
    await expect(
      startEmbeddedPostgres({ dataDir: join(root, 'other'), ctypes: ['xx_XX.UTF-8'] }),
    ).rejects.toThrow('this machine has no locale xx_XX.UTF-8')
  })

  test('names the port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((listening) => other.once('listening', listening))
    const { port } = other.address() as { port: number }

    await expect(start(port)).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken by another program`)
    other.close()
  })
})

/** The collation, which must be the same on every machine, and whether letters of all scripts are recognized. */
async function sorting(url: string) {
  const [settings] = await query(
    url,
    (sql) => sql`
      select datcollate, pg_encoding_to_char(encoding) as encoding, lower('ПРИНТЕР Ή Ü') as lower,
             array(select sign from unnest(array['я', 'a', '_', 'B', 'é', '😀', 'Ａ']) sign order by sign) as sorted,
             current_setting('max_connections') as connections
      from pg_database where datname = 'postgres'`,
  )
  return settings
}

async function query<Row>(url: string, run: (sql: postgres.Sql) => PromiseLike<Row>): Promise<Row> {
  const sql = postgres(url, { max: 1, connection: { application_name: 'test' } })
  try {
    return await run(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
