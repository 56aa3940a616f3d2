import type postgres from 'postgres'
import { quoteIdentifier, quoteLiteral } from './sql-text.js'

/** With fewer columns, parsing the JSON in a trigger costs more than it saves. */
const worthTrigger = 4
/** Prefix of the comment on a column that the trigger computes; its expression follows. */
const prefix = 'computed: '
/** The same prefix for a column added by a migration, whose existing rows are still to be filled. */
const unfilled = 'computed, to fill: '

/**
 * SQL for the expression that computes a column from the row's JSON, over the table's columns; `null` for other
 * columns. `a` is the column's row of pg_attribute.
 */
export const computedBy = `coalesce(
  (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d
   where a.attgenerated = 's' and d.adrelid = a.attrelid and d.adnum = a.attnum),
  substring(col_description(a.attrelid, a.attnum) from '^(?:${prefix}|${unfilled})(.*)'))`

interface ComputedTable {
  table: string
  /** The json column from which all others are computed. */
  source: string
  columns: { name: string; expression: string; generated: boolean; unfilled: boolean }[]
  /** The trigger's current function body. */
  body: string | null
}

/**
 * Makes one trigger compute all generated columns of a table that has several. Postgres computes each of them
 * separately: it parses the row's whole JSON for each one, and parses its expression in each statement. For an
 * incident with 23 columns that was two thirds of the cost of its insert. The trigger parses the JSON once, and
 * not at all if an insert supplies the first column, and so all of them. Idempotent; columns that later migrations
 * generate or drop are followed.
 *
 * Adding a generated column to a large table would rewrite the table under a lock. A migration adds a plain
 * nullable column instead, with `comment on column … is 'computed, to fill: <expression>'`, which must qualify any
 * function that is not Postgres' own with its schema. Existing rows are filled once the trigger computes the
 * column, so that rows written meanwhile are not missed.
 */
export async function computeColumnsTogether(admin: postgres.Sql, schema: string): Promise<void> {
  const tables = await admin.begin(async (tx) => {
    // So that expressions contain the schema of the functions they call.
    await tx`set local search_path to ''`
    const found = await tx.unsafe<ComputedTable[]>(computedTables, [schema])
    for (const table of found) await tx.unsafe(computeTogether(schema, table))
    return found
  })
  for (const table of tables) await fillAdded(admin, schema, table)
}

/** Fills added columns in existing rows, and only then marks them as filled. */
async function fillAdded(
  admin: postgres.Sql,
  schema: string,
  { table, columns }: ComputedTable,
): Promise<void> {
  const added = columns.filter((column) => column.unfilled)
  if (added.length === 0) return
  const name = `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
  const set = added.map((column) => `${quoteIdentifier(column.name)} = ${column.expression}`)
  const lacking = added.map(
    (column) => `(${quoteIdentifier(column.name)} is null and (${column.expression}) is not null)`,
  )
  // Waits for transactions that started to write before the trigger computed the columns.
  await admin.begin((tx) => tx.unsafe(`lock table ${name} in share mode`))
  await admin.unsafe(
    [
      `update ${name} set ${set.join(', ')} where ${lacking.join(' or ')}`,
      ...added.map((column) => filled(name, column)),
    ].join(';'),
  )
}

const filled = (table: string, { name, expression }: ComputedTable['columns'][number]) =>
  `comment on column ${table}.${quoteIdentifier(name)} is ${quoteLiteral(prefix + expression)}`

function computeTogether(schema: string, { table, source, columns, body }: ComputedTable): string {
  const [name, trigger] = [
    `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`,
    quoteIdentifier(`${table}_compute`),
  ]
  const json = quoteIdentifier(source)
  const assignments = columns.map((column) => `new.${quoteIdentifier(column.name)} := ${column.expression};`)
  const isProvided = `tg_op = 'INSERT' and new.${quoteIdentifier(columns[0]?.name ?? '')} is not null`
  const functionBody = `declare ${json} jsonb; begin if ${isProvided} then return new; end if; ${json} := new.${json}; ${assignments.join(' ')} return new; end`
  const generated = columns.filter((column) => column.generated)
  const statements = generated.flatMap((column) => [
    `alter table ${name} alter ${quoteIdentifier(column.name)} drop expression`,
    filled(name, column),
  ])
  if (functionBody !== body)
    statements.push(`create or replace function ${quoteIdentifier(schema)}.${trigger}() returns trigger language plpgsql
      as $compute$${functionBody}$compute$`)
  if (body === null)
    statements.push(`create trigger ${trigger} before insert or update of ${json} on ${name}
      for each row execute function ${quoteIdentifier(schema)}.${trigger}()`)
  return statements.join(';')
}

/** Tables with enough computed columns. */
const computedTables = `
  select c.relname as table, min(s.attname) as source,
    json_agg(json_build_object('name', a.attname, 'expression', a.expression, 'generated', a.attgenerated = 's',
      'unfilled', coalesce(starts_with(col_description(a.attrelid, a.attnum), '${unfilled}'), false))
      order by a.attnum) as columns,
    (select prosrc from pg_proc where pronamespace = c.relnamespace and proname = c.relname || '_compute') as body
  from pg_class c
  join pg_attribute s on s.attrelid = c.oid and s.atttypid = 'json'::regtype and not s.attisdropped
  join (select a.*, ${computedBy} as expression from pg_attribute a where a.attnum > 0 and not a.attisdropped) a
    on a.attrelid = c.oid and a.expression is not null
  where c.relnamespace = $1::text::regnamespace and c.relkind = 'r'
  group by c.oid, c.relname, c.relnamespace
  having count(distinct s.attname) = 1 and count(*) >= ${worthTrigger}`
