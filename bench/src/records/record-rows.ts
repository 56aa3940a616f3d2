import { type Cluster, databaseIn } from '@opsplane/local'
import postgres from 'postgres'

/** Connects as superuser to the database of the tenants' data. */
export function openData({ info, secrets }: Pick<Cluster, 'info' | 'secrets'>, max = 1): postgres.Sql {
  const url = databaseIn(secrets.installation, 'database-studio', info.postgresUrl)
  return postgres(url, { max, onnotice: () => {}, connection: { search_path: 'database_studio' } })
}

/**
 * Fills a table with the columns in `record-calls`, without events: lists and exports only read rows, and no events
 * are waiting for the relay during the measurement.
 */
export async function fillTable(sql: postgres.Sql, slug: string, rows: number): Promise<void> {
  const [found] = await sql<{ table: string }[]>`
    select c.relation::regclass::text as table from captured_tables c where slug = ${slug}`
  if (!found) throw new Error(`there is no table ${slug}`)
  await sql.unsafe(`alter table ${found.table} disable trigger user`)
  await sql.unsafe(
    `insert into ${found.table} (id, version, created_at, updated_at, name, serial, status, owner, notes, quantity, price, bought_on)
     select 'rec_' || lpad(n::text, 26, '0'), 1, now(), now(), 'Cordless drill with two batteries', 'A-17-' || n,
       'status ' || n % 10, 'ada@example.com', 'kept in the cupboard next to the door, second shelf', n % 1000,
       (n::bigint * 7919 % 1000000) / 100.0, '2026-03-02'
     from generate_series(1, ${rows}) n`,
  )
  await sql.unsafe(`alter table ${found.table} enable always trigger user`).catch(async () => {
    // ENABLE ALWAYS TRIGGER accepts only one trigger name at a time.
    for (const name of ['made', 'touch', 'insert', 'update', 'delete', 'truncate'])
      await sql.unsafe(`alter table ${found.table} enable always trigger opsplane_${name}`)
  })
  await sql.unsafe(`vacuum analyze ${found.table}`)
}
