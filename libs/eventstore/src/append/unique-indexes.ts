import { computedBy, type StatementRunner } from '@opsplane/postgres'

/** A unique index of a read-model table other than its primary key, as SQL over the table's columns. */
export interface UniqueIndex {
  name: string
  /** The expressions whose combination must be unique. */
  columns: string[]
  /** Predicate of a partial index; `null` if the index covers all rows. */
  predicate: string | null
  /** The computed columns the index refers to, each with the expression that derives it from `state`. */
  generated: { name: string; expression: string }[]
}

interface UniqueIndexes {
  /** The unique indexes of these tables. Each table is queried once. */
  of(sql: StatementRunner, tables: readonly string[]): Promise<ReadonlyMap<string, UniqueIndex[]>>
}

export function createUniqueIndexes(): UniqueIndexes {
  const known = new Map<string, UniqueIndex[]>()
  return {
    async of(sql, tables) {
      for (const table of tables)
        if (!known.has(table)) known.set(table, [...(await sql.unsafe<UniqueIndex[]>(ofTable, [table]))])
      return known
    },
  }
}

const ofTable = `
  select c.relname as name, pg_get_expr(i.indpred, i.indrelid) as predicate,
    array(select pg_get_indexdef(i.indexrelid, place, false) from generate_series(1, i.indnkeyatts) place) as columns,
    coalesce((select json_agg(json_build_object('name', a.attname, 'expression', ${computedBy}))
      from pg_attribute a
      where a.attrelid = i.indrelid and ${computedBy} is not null and exists (
        select from pg_depend p where p.classid = 'pg_class'::regclass and p.objid = i.indexrelid
          and p.refclassid = 'pg_class'::regclass and p.refobjid = i.indrelid and p.refobjsubid = a.attnum)), '[]') as generated
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = to_regclass(quote_ident($1)) and i.indisunique and not i.indisprimary
  order by c.relname`
