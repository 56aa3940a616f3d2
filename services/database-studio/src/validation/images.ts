import { stringifyExact, type TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { mostReadAtOnce } from '../plane/answer-size.js'
import { conditionsSql } from '../row/conditions.js'
import type { Condition } from '../row/filter.js'
import type { Values } from '../row/input.js'
import type { RecordAccess } from '../row/open.js'
import type { Opened, Row } from '../row/opened.js'
import { Parameters, type Statement } from '../row/parameters.js'
import { selectList, wholeOf } from '../row/selection.js'
import { existingStatement, marks } from '../row/write-statements.js'
import { type Image, mostBytes, tooLarge } from './validating.js'

type Reading = Pick<RecordAccess, 'read'>

/** Records as they are, by their ids; those that are not there, or not the caller's to see, are absent. Throws `payload_too_large`. */
export async function recordsById(
  { read }: Reading,
  { space, table, readRule }: Opened,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>()
  let bytes = 0
  for (let at = 0; at < ids.length; at += mostReadAtOnce) {
    const rows = await read(
      space,
      byIds({ table, schema: space.schema, rule: readRule }, ids.slice(at, at + mostReadAtOnce)),
    )
    for (const row of rows) found.set(String(row.id), row)
    bytes += stringifyExact(rows).length
    if (bytes > mostBytes) throw tooLarge()
  }
  return found
}

/** Ids of the records that a change by a filter is about, `limit` and one more at most. */
export async function matchingIds(
  { read }: Reading,
  { space, table, writeRule }: Opened,
  conditions: readonly Condition[],
  limit: number,
): Promise<string[]> {
  const parameters = new Parameters()
  const where = conditionsSql([...conditions, ...writeRule], 'r', parameters)
  const most = parameters.bind(String(limit + 1), 'int8')
  const text = `select r.id from ${quoteIdentifier(space.schema)}.${quoteIdentifier(table.slug)} r where ${where} limit ${most}`
  const rows = await read(space, { text, parameters: parameters.values })
  return rows.map(({ id }) => String(id))
}

/** What is there already of records that are to be there, and may be seen by the caller, by the ids these would have. */
export async function existingRecords(
  { read }: Reading,
  { space, table, readRule }: Opened,
  { rows, on }: { rows: readonly Values[]; on: readonly string[] },
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>()
  let bytes = 0
  for (let at = 0; at < rows.length; at += mostReadAtOnce) {
    const target = { schema: space.schema, table, rule: readRule }
    const page = await read(
      space,
      existingStatement(target, { rows: rows.slice(at, at + mostReadAtOnce), on }),
    )
    for (const { [marks.given]: given, ...row } of page) found.set(String(given), row as Row)
    bytes += stringifyExact(page).length
    if (bytes > mostBytes) throw tooLarge()
  }
  return found
}

/** A record as it would be once it has these values. What is computed is only known when it is written. */
export function changed(table: TableState, before: Image, values: Image): Image {
  const after = { ...before, ...values }
  for (const { name, type } of table.columns) if (type === 'computed') delete after[name]
  return after
}

function byIds(
  { table, schema, rule }: { table: TableState; schema: string; rule: readonly Condition[] },
  ids: readonly string[],
): Statement {
  const parameters = new Parameters()
  const list = selectList(wholeOf(table), 'r', schema, parameters)
  const given = `json_array_elements_text(${parameters.bind(JSON.stringify(ids), 'json')})`
  const where = `r.id in (select ${given}) and ${conditionsSql(rule, 'r', parameters)}`
  return {
    text: `select ${list} from ${quoteIdentifier(schema)}.${quoteIdentifier(table.slug)} r where ${where}`,
    parameters: parameters.values,
  }
}
