import type { ChangePage, ChangeQuery } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { durablePosition, type Positions } from './log-end.js'

/**
 * The rows of a table in the order of their last change. Every statement that makes a change worth reporting also
 * assigns the row a position (`change_position = nextval('<sequence>')`), so nothing can appear at or below a
 * position that has settled. Rows without a position are not reported.
 */
export interface ChangeFeed<Row, Change> extends Positions {
  /** SQL select list for a row. */
  columns: string
  changeOf(row: Row): Change
}

const maxChanges = 1_000

/**
 * The rows that have changed since a position, in that order. Each is returned in its current state, and again
 * after its next change.
 */
export async function readChanges<Row extends object, Change>(
  { sql }: Pick<Database, 'sql'>,
  { table, sequence, columns, changeOf }: ChangeFeed<Row, Change>,
  { after }: ChangeQuery,
): Promise<ChangePage<Change>> {
  const settled = await durablePosition(sql, { table, sequence })
  const rows = await sql.unsafe<(Row & { position: number })[]>(
    `select change_position::float8 as position, ${columns} from ${table}
     where change_position > $1::text::bigint and change_position <= $2::text::bigint
     order by change_position limit ${maxChanges}`,
    [String(after), String(settled)],
    { prepare: true },
  )
  const changes = rows.map(({ position, ...row }) => ({ position, change: changeOf(row as unknown as Row) }))
  return { changes, next: rows.length < maxChanges ? null : (changes.at(-1)?.position ?? null) }
}
