import type { StatementRunner } from './database.js'

/**
 * Names of the partitions of these tables, in order. Parse them in JavaScript: in SQL some plans would parse the
 * names of all relations first.
 */
export async function listPartitions(sql: StatementRunner, ...tables: string[]): Promise<string[]> {
  const rows = await sql.unsafe<{ name: string }[]>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = any ($1::text[]::regclass[]) order by 1`,
    [tables],
  )
  return rows.map(({ name }) => name)
}
