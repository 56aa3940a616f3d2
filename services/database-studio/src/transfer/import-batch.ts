import { ApiError, type CommandMeta, newId, type RefusedRow } from '@opsplane/contracts'
import type { TransactionSql } from 'postgres'
import { groupsOf, insertGroups, targetOf } from '../record/bulk.js'
import { isOutdated, writeFailure } from '../record/failures.js'
import { readRecord, type Values } from '../record/input.js'
import type { Opened, RecordAccess } from '../record/open.js'
import { Problems } from '../record/problems.js'
import { forbidden, onlyAllowed } from '../record/records.js'
import type { FileRow } from './import-rows.js'

/** What became of one batch of rows. */
export interface BatchOutcome {
  written: number
  refused: RefusedRow[]
}

interface ReadRow {
  line: number
  values: Values
}

/**
 * Writes what can be written of a batch of rows, in one transaction with its outcome, which is kept under the key of `meta`:
 * so a batch is written once, however often its import is resumed.
 */
export function writeBatch(
  access: RecordAccess,
  opened: Opened,
  rows: readonly FileRow[],
  { meta, on }: { meta: CommandMeta; on: readonly string[] | undefined },
): Promise<BatchOutcome> {
  const refused: RefusedRow[] = []
  const readable = rows.flatMap((row) => readRow(opened, row, refused))
  return access.commit([opened], meta, async (tx) => {
    const written = await writeParts(tx, opened, readable, { refused, on })
    return { written, refused: refused.sort((a, b) => a.line - b.line) }
  })
}

function readRow({ table }: Opened, row: FileRow, refused: RefusedRow[]): ReadRow[] {
  const { line } = row
  if ('problem' in row) {
    refused.push({ line, path: '', message: row.problem })
    return []
  }
  const problems = new Problems()
  const values = readRecord(table, row.given, { place: { in: 'body', path: '' }, problems, isNew: true })
  if (problems.none) return [{ line, values }]
  refused.push(...problems.details.map(({ path, message }) => ({ line, path, message })))
  return []
}

/** All of these rows; where Postgres refuses one of them, halves, until it stands alone. */
async function writeParts(
  tx: TransactionSql,
  opened: Opened,
  rows: readonly ReadRow[],
  options: { refused: RefusedRow[]; on: readonly string[] | undefined },
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  const given = rows.map(({ values }) => ({ ...values, id: newId('record') }))
  try {
    await tx.savepoint(async (part) => {
      const answer = { answer: 'ids', ...(options.on && { on: options.on }) } as const
      const written = await insertGroups(part, targetOf(opened), groupsOf(opened, given), answer)
      if (onlyAllowed(written).length < rows.length) throw forbidden()
    })
    return rows.length
  } catch (thrown) {
    const error = isOutdated(thrown) ? thrown : writeFailure(thrown, opened.table)
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    if (rows.length === 1) {
      const [detail] = error.details
      options.refused.push({
        line: first.line,
        path: detail?.path ?? '',
        message: detail?.message ?? error.message,
      })
      return 0
    }
    const middle = rows.length >> 1
    const before = await writeParts(tx, opened, rows.slice(0, middle), options)
    return before + (await writeParts(tx, opened, rows.slice(middle), options))
  }
}
