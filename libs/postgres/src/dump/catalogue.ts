import { z } from 'zod'
import type { StatementRunner } from '../database.js'

/** A table that stores rows: a plain one, or a partition. */
export const DumpedTable = z.object({
  schema: z.string(),
  name: z.string(),
  /** All columns that the database does not compute, in order. */
  columns: z.array(z.string()),
  /** The parent table of a partition, and its bound, `FOR VALUES …`. */
  parent: z.string().nullable(),
  bound: z.string().nullable(),
})
export type DumpedTable = z.infer<typeof DumpedTable>

export const DumpedSequence = z.object({
  schema: z.string(),
  name: z.string(),
  /** As text, because it may exceed the exact range of numbers; `null` if no value was drawn yet. */
  last: z.string().nullable(),
})
export type DumpedSequence = z.infer<typeof DumpedSequence>

/** The tables of these schemas whose rows survive a crash, ordered by name. */
export async function readTables(sql: StatementRunner, schemas: readonly string[]): Promise<DumpedTable[]> {
  const rows = await sql.unsafe(
    `select n.nspname as schema, c.relname as name, parent.relname as parent,
       pg_get_expr(c.relpartbound, c.oid) as bound,
       array(select a.attname::text from pg_attribute a
         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
         order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
     where n.nspname = any($1::text[]) and c.relkind = 'r' and c.relpersistence = 'p'
     order by n.nspname, c.relname`,
    [[...schemas]],
  )
  return rows.map((row) => DumpedTable.parse({ ...row }))
}

/** Whether a relation of this name exists; the name may include a schema and must be quoted where necessary. */
export async function relationExists(sql: StatementRunner, name: string): Promise<boolean> {
  const [row] = await sql.unsafe<{ exists: boolean }[]>('select to_regclass($1) is not null as exists', [
    name,
  ])
  return row?.exists === true
}

/** The last values of the sequences of these schemas; transactions do not freeze them. */
export async function readSequences(
  sql: StatementRunner,
  schemas: readonly string[],
): Promise<DumpedSequence[]> {
  const rows = await sql.unsafe(
    `select schemaname as schema, sequencename as name, last_value::text as last from pg_sequences
     where schemaname = any($1::text[]) order by 1, 2`,
    [[...schemas]],
  )
  return rows.map((row) => DumpedSequence.parse({ ...row }))
}
