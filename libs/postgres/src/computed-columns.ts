import type postgres from 'postgres'
import { quoteIdentifier, quoteLiteral } from './sql-text.js'

/** With fewer columns parsing once costs more than it saves. */
const worthTrigger = 4
/** Begins the comment of a column that the trigger computes; its expression follows. */
const prefix = 'computed: '
/** The same of one that a migration has added, whose older rows are still to be filled. */
const unfilled = 'computed, to fill: '

/**
 * How a column of a table is computed from the row's JSON, as SQL over the table's columns; null for others. `a` is its row
 * of pg_attribute.
 */
export const computedBy = `coalesce(
  (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d
   where a.attgenerated = 's' and d.adrelid = a.attrelid and d.adnum = a.attnum),
  substring(col_description(a.attrelid, a.attnum) from '^(?:${prefix}|${unfilled})(.*)'))`

interface ComputedTable {
  table: string
  /** The column of type json that all others are computed from. */
  source: string
  columns: { name: string; expression: string; generated: boolean; unfilled: boolean }[]
  /** What the trigger does by now. */
  body: string | null
}

/**
 * Lets one trigger compute all generated columns of a table that has several. Postgres computes each by itself, and so
 * parses the whole JSON of the row for each, and reads its expression from text in each statement: of an incident with 23
 * columns that was two thirds of what its insert cost. The trigger parses once, and not at all where an insert gives the first
 * of the columns, and so all of them. Safe to repeat; what later migrations generate or drop is followed.
 *
 * To generate a column of a table that is large would rewrite the table under a lock. A migration adds a plain one instead that may
 * be null, with `comment on column … is 'computed, to fill: <expression>'`, which names the schema of any function
 * that is not Postgres' own. Rows that are there are filled once the trigger knows the column, so that none is missed that is
 * written meanwhile.
 */
export async function computeColumnsTogether(admin: postgres.Sql, schema: string): Promise<void> {
  const tables = await admin.begin(async (tx) => {
    // So that expressions name the schema of what they call.
    await tx`set local search_path to ''`
    const found = await tx.unsafe<ComputedTable[]>(computedTables, [schema])
    for (const table of found) await tx.unsafe(computeTogether(schema, table))
    return found
  })
  for (const table of tables) await fillAdded(admin, schema, table)
}

/** Fills what the columns that were added lack, and only then says that they are filled. */
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
  // Transactions that started to write before the trigger knew the columns have ended by then.
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
  const given = `tg_op = 'INSERT' and new.${quoteIdentifier(columns[0]?.name ?? '')} is not null`
  const wanted = `declare ${json} jsonb; begin if ${given} then return new; end if; ${json} := new.${json}; ${assignments.join(' ')} return new; end`
  const generated = columns.filter((column) => column.generated)
  const statements = generated.flatMap((column) => [
    `alter table ${name} alter ${quoteIdentifier(column.name)} drop expression`,
    filled(name, column),
  ])
  if (wanted !== body)
    statements.push(`create or replace function ${quoteIdentifier(schema)}.${trigger}() returns trigger language plpgsql
      as $compute$${wanted}$compute$`)
  if (body === null)
    statements.push(`create trigger ${trigger} before insert or update of ${json} on ${name}
      for each row execute function ${quoteIdentifier(schema)}.${trigger}()`)
  return statements.join(';')
}

/** Tables with enough columns that are computed. */
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
