import { type Database, translatePostgresError } from '@opsplane/postgres'

/** The pool, or one transaction. */
export type StatementRunner = Pick<Database['sql'], 'unsafe'>
export type Parameter = string | number | string[] | null

/** Rows by column: what belongs together is at the same place of each. */
export type Columns<Name extends string> = Record<Name, string[]> & { size: number }

export interface ColumnNames<Word extends string, Text extends string> {
  /** What never holds a comma: ids, and names of types and classes. */
  words: readonly Word[]
  /** Any text. */
  texts?: readonly Text[]
}

/** Rows of a statement in SQL. */
export async function statement<Row extends object>(
  sql: StatementRunner,
  text: string,
  parameters: Parameter[],
): Promise<Row[]> {
  try {
    return await sql.unsafe<Row[]>(text, parameters)
  } catch (error) {
    throw translatePostgresError(error)
  }
}

/**
 * Thousands of rows, which Postgres joins to one text for each column: as a row of its own each would be a message and
 * an object with a copy of every value, and taking them in would last longer than finding them.
 */
export async function readColumns<Word extends string, Text extends string = never>(
  sql: StatementRunner,
  names: ColumnNames<Word, Text>,
  from: string,
  parameters: Parameter[],
): Promise<Columns<Word | Text>> {
  return columnsOf(names, await readJoined(sql, names, from, parameters, null))
}

/** The same; null where there are more rows than `most`, of which nothing is then sent. */
export async function readColumnsUpTo<Word extends string, Text extends string = never>(
  most: number,
  sql: StatementRunner,
  names: ColumnNames<Word, Text>,
  from: string,
  parameters: Parameter[],
): Promise<Columns<Word | Text> | null> {
  const row = await readJoined(sql, names, from, parameters, most)
  return Number(row.size) > most ? null : columnsOf(names, row)
}

type Joined = Record<string, unknown>

async function readJoined(
  sql: StatementRunner,
  { words, texts = [] }: ColumnNames<string, string>,
  from: string,
  parameters: Parameter[],
  most: number | null,
): Promise<Joined> {
  const columns = [
    ...words.map((name) => ({ name, joined: `string_agg(coalesce(${name}, ''), ',')` })),
    ...texts.map((name) => ({ name, joined: `json_agg(coalesce(${name}, ''))` })),
  ]
  const shown = columns.map(({ name, joined }) =>
    most === null ? `${joined} as ${name}` : `case when count(*) <= ${most} then ${joined} end as ${name}`,
  )
  const found = `select ${[...words, ...texts].join(', ')} from ${from} ${most === null ? '' : `limit ${most + 1}`}`
  const text = `select count(*)::int as size, ${shown.join(', ')} from (${found}) found`
  const [row] = await statement<Joined>(sql, text, parameters)
  return row ?? {}
}

function columnsOf<Name extends string>(
  { words, texts = [] }: ColumnNames<string, string>,
  row: Joined,
): Columns<Name> {
  const size = Number(row.size)
  const columns = [...words, ...texts].map((name) => [name, valuesOf(row[name])] as const)
  for (const [name, values] of columns) {
    if (values.length !== size) throw new Error(`${values.length} values of ${name} in ${size} rows`)
  }
  return { ...(Object.fromEntries(columns) as Record<Name, string[]>), size }
}

/** A joined text, a list from JSON, or null of no rows. */
function valuesOf(joined: unknown): string[] {
  if (typeof joined === 'string') return joined.split(',')
  return Array.isArray(joined) ? joined : []
}
