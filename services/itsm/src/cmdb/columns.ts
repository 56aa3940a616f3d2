import { type StatementRunner, translatePostgresError } from '@opsplane/postgres'
import type { Joined } from './impact/string-interner.js'

export type { StatementRunner }

export type Parameter = string | number | string[] | null

/** Rows stored by column. Values of the same row have the same index in each column. */
export type Columns<Word extends string, Text extends string = never> = Record<Word, Joined> &
  Record<Text, string[]> & { size: number }

export interface ColumnNames<Word extends string, Text extends string> {
  /** Columns whose values never contain a comma: ids, and names of types and classes. */
  words: readonly Word[]
  /** Columns with arbitrary text. */
  texts?: readonly Text[]
}

/** Runs a SQL statement and returns its rows. Translates Postgres errors. */
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
 * Reads thousands of rows, with Postgres joining each column into one text. As separate rows, each would be one
 * protocol message and one object with a copy of every value, and decoding them would take longer than the query.
 */
export async function readColumns<Word extends string, Text extends string = never>(
  sql: StatementRunner,
  names: ColumnNames<Word, Text>,
  from: string,
  parameters: Parameter[],
): Promise<Columns<Word, Text>> {
  return toColumns(names, await readJoined(sql, names, from, parameters, null))
}

/**
 * Like `readColumns`, but returns `null` if there are more than
 * `maxRows` rows, in which case Postgres sends none of them.
 */
export async function readColumnsUpTo<Word extends string, Text extends string = never>(
  maxRows: number,
  sql: StatementRunner,
  names: ColumnNames<Word, Text>,
  from: string,
  parameters: Parameter[],
): Promise<Columns<Word, Text> | null> {
  const row = await readJoined(sql, names, from, parameters, maxRows)
  return readSize(row) > maxRows ? null : toColumns(names, row)
}

/** The values of the one row as sent by Postgres: the number of rows, then every column. */
type RawRow = (Buffer | null)[]

const readSize = ([size]: RawRow) => Number(size)

async function readJoined(
  sql: StatementRunner,
  { words, texts = [] }: ColumnNames<string, string>,
  from: string,
  parameters: Parameter[],
  maxRows: number | null,
): Promise<RawRow> {
  const columns = [...words, ...texts]
  const joined = [
    ...words.map((name) => `string_agg(coalesce(${name}, ''), ',')`),
    ...texts.map((name) => `json_agg(coalesce(${name}, ''))`),
  ].map((column) => (maxRows === null ? column : `case when count(*) <= ${maxRows} then ${column} end`))
  const found = `select ${columns.join(', ')} from ${from} ${maxRows === null ? '' : `limit ${maxRows + 1}`}`
  try {
    const rows = await sql
      .unsafe(`select count(*), ${joined.join(', ')} from (${found}) found`, parameters)
      .raw()
    return rows[0] ?? []
  } catch (error) {
    throw translatePostgresError(error)
  }
}

const nothing = Buffer.alloc(0)

function toColumns<Word extends string, Text extends string>(
  { words, texts = [] }: ColumnNames<Word, Text>,
  row: RawRow,
): Columns<Word, Text> {
  const size = readSize(row)
  const joined = {} as Record<Word, Joined>
  words.forEach((name, at) => {
    joined[name] = { bytes: row[1 + at] ?? nothing, size }
  })
  const lists = {} as Record<Text, string[]>
  texts.forEach((name, at) => {
    lists[name] = JSON.parse(String(row[1 + words.length + at] ?? '[]'))
  })
  return { ...joined, ...lists, size }
}
