import type postgres from 'postgres'
import { literal, quoted } from './sql-text.js'

/** With fewer columns parsing once costs more than it saves. */
const worthTrigger = 4
/** Begins the comment of a column that the trigger computes; its expression follows. */
const prefix = 'computed: '

/**
 * How a column of a table is computed from the row's JSON, as SQL over the table's columns; null for others. `a` is its row
 * of pg_attribute.
 */
export const computedBy = `coalesce(
  (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d
   where a.attgenerated = 's' and d.adrelid = a.attrelid and d.adnum = a.attnum),
  (select substr(comment, ${prefix.length + 1}) from col_description(a.attrelid, a.attnum) comment
   where starts_with(comment, '${prefix}')))`

interface ComputedTable {
  table: string
  /** The column of type json that all others are computed from. */
  source: string
  columns: { name: string; expression: string; generated: boolean }[]
  /** What the trigger does by now. */
  body: string | null
}

/**
 * Lets one trigger compute all generated columns of a table that has several. Postgres computes each by itself, and so
 * parses the whole JSON of the row for each, and reads its expression from text in each statement: of an incident with 23
 * columns that was two thirds of what its insert cost. The trigger parses once, and not at all where an insert gives the first
 * of the columns, and so all of them. Safe to repeat; what later migrations generate or drop is followed.
 */
export async function computeColumnsTogether(admin: postgres.Sql, schema: string): Promise<void> {
  await admin.begin(async (tx) => {
    // So that expressions name the schema of what they call.
    await tx`set local search_path to ''`
    for (const table of await tx.unsafe<ComputedTable[]>(computedTables, [schema]))
      await tx.unsafe(computeTogether(schema, table))
  })
}

function computeTogether(schema: string, { table, source, columns, body }: ComputedTable): string {
  const [name, trigger] = [`${quoted(schema)}.${quoted(table)}`, quoted(`${table}_compute`)]
  const json = quoted(source)
  const assignments = columns.map((column) => `new.${quoted(column.name)} := ${column.expression};`)
  const given = `tg_op = 'INSERT' and new.${quoted(columns[0]?.name ?? '')} is not null`
  const wanted = `declare ${json} jsonb; begin if ${given} then return new; end if; ${json} := new.${json}; ${assignments.join(' ')} return new; end`
  const generated = columns.filter((column) => column.generated)
  const statements = generated.flatMap((column) => [
    `alter table ${name} alter ${quoted(column.name)} drop expression`,
    `comment on column ${name}.${quoted(column.name)} is ${literal(prefix + column.expression)}`,
  ])
  if (wanted !== body)
    statements.push(`create or replace function ${quoted(schema)}.${trigger}() returns trigger language plpgsql
      as $compute$${wanted}$compute$`)
  if (body === null)
    statements.push(`create trigger ${trigger} before insert or update of ${json} on ${name}
      for each row execute function ${quoted(schema)}.${trigger}()`)
  return statements.join(';')
}

/** Tables with enough columns that are computed. */
const computedTables = `
  select c.relname as table, min(s.attname) as source,
    json_agg(json_build_object('name', a.attname, 'expression', a.expression, 'generated', a.attgenerated = 's')
      order by a.attnum) as columns,
    (select prosrc from pg_proc where pronamespace = c.relnamespace and proname = c.relname || '_compute') as body
  from pg_class c
  join pg_attribute s on s.attrelid = c.oid and s.atttypid = 'json'::regtype and not s.attisdropped
  join (select a.*, ${computedBy} as expression from pg_attribute a where a.attnum > 0 and not a.attisdropped) a
    on a.attrelid = c.oid and a.expression is not null
  where c.relnamespace = $1::text::regnamespace and c.relkind = 'r'
  group by c.oid, c.relname, c.relnamespace
  having count(distinct s.attname) = 1 and count(*) >= ${worthTrigger}`
