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

/**
 * Current records by id; records that do not exist or that the caller may not see are missing. Throws
 * `payload_too_large`.
 */
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

/** Ids of the records matched by a filter; at most `limit` + 1. */
export async function findMatchingIds(
  { read }: Reading,
  { space, table, writeRule }: ResolvedTable,
  conditions: readonly Condition[],
  limit: number,
): Promise<string[]> {
  const parameters = new Parameters()
  const where = conditionsSql([...conditions, ...writeRule], 'r', parameters)
  const maxIds = parameters.bind(String(limit + 1), 'int8')
  const text = `select r.id from ${quoteIdentifier(space.schema)}.${quoteIdentifier(table.slug)} r where ${where} limit ${maxIds}`
  const rows = await read(space, { text, parameters: parameters.values })
  return rows.map(({ id }) => String(id))
}

/** Existing records with the same values of `on`, if visible to the caller, by the ids of the given rows. */
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

/** A record after these values are applied. Computed values are not known before the write. */
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
  const requestedIds = `json_array_elements_text(${parameters.bind(JSON.stringify(ids), 'json')})`
  const where = `r.id in (select ${requestedIds}) and ${conditionsSql(rule, 'r', parameters)}`
  return {
    text: `select ${list} from ${quoteIdentifier(schema)}.${quoteIdentifier(table.slug)} r where ${where}`,
    parameters: parameters.values,
  }
}
