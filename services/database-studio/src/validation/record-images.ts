import { stringifyExact, type TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { maxRecordsRead } from '../data-plane/answer-size.js'
import { conditionsSql } from '../row/conditions.js'
import type { Condition } from '../row/filter.js'
import type { Values } from '../row/input.js'
import { Parameters, type Statement } from '../row/parameters.js'
import type { RecordAccess } from '../row/record-access.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import { selectAllFields, selectList } from '../row/selection.js'
import { existingStatement, marks } from '../row/write-statements.js'
import { batchTooLargeError, type Image, maxBatchBytes } from './record-validator.js'

type Reading = Pick<RecordAccess, 'read'>

/** Records as they are, by their ids; those that are not there, or not the caller's to see, are absent. Throws `payload_too_large`. */
export async function findRecords(
  { read }: Reading,
  { space, table, readRule }: ResolvedTable,
  ids: readonly string[],
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>()
  let bytes = 0
  for (let at = 0; at < ids.length; at += maxRecordsRead) {
    const rows = await read(
      space,
      byIds({ table, schema: space.schema, rule: readRule }, ids.slice(at, at + maxRecordsRead)),
    )
    for (const row of rows) found.set(String(row.id), row)
    bytes += stringifyExact(rows).length
    if (bytes > maxBatchBytes) throw batchTooLargeError()
  }
  return found
}

/** Ids of the records that a change by a filter is about, `limit` and one more at most. */
export async function findMatchingIds(
  { read }: Reading,
  { space, table, writeRule }: ResolvedTable,
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
export async function findExistingRecords(
  { read }: Reading,
  { space, table, readRule }: ResolvedTable,
  { rows, on }: { rows: readonly Values[]; on: readonly string[] },
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>()
  let bytes = 0
  for (let at = 0; at < rows.length; at += maxRecordsRead) {
    const target = { schema: space.schema, table, rule: readRule }
    const page = await read(
      space,
      existingStatement(target, { rows: rows.slice(at, at + maxRecordsRead), on }),
    )
    for (const { [marks.given]: given, ...row } of page) found.set(String(given), row as Row)
    bytes += stringifyExact(page).length
    if (bytes > maxBatchBytes) throw batchTooLargeError()
  }
  return found
}

/** A record as it would be once it has these values. What is computed is only known when it is written. */
export function applyValues(table: TableState, before: Image, values: Image): Image {
  const after = { ...before, ...values }
  for (const { name, type } of table.columns) if (type === 'computed') delete after[name]
  return after
}

function byIds(
  { table, schema, rule }: { table: TableState; schema: string; rule: readonly Condition[] },
  ids: readonly string[],
): Statement {
  const parameters = new Parameters()
  const list = selectList(selectAllFields(table), 'r', schema, parameters)
  const given = `json_array_elements_text(${parameters.bind(JSON.stringify(ids), 'json')})`
  const where = `r.id in (select ${given}) and ${conditionsSql(rule, 'r', parameters)}`
  return {
    text: `select ${list} from ${quoteIdentifier(schema)}.${quoteIdentifier(table.slug)} r where ${where}`,
    parameters: parameters.values,
  }
}
