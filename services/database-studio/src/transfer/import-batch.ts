import { ApiError, type CommandMeta, newId, type Principal, type RefusedRow } from '@opsplane/contracts'
import type { TransactionSql } from 'postgres'
import { assertAllowed, ruleForbidsError } from '../record/records.js'
import { isOutdated, writeFailure } from '../row/failures.js'
import { readRecord, type Values } from '../row/input.js'
import { groupInserts, insertGroups, toWriteTarget } from '../row/inserts.js'
import { type Place, Problems } from '../row/problems.js'
import type { RecordAccess } from '../row/record-access.js'
import { findMissingReferences, missingReference } from '../row/references.js'
import type { ResolvedTable } from '../row/resolved-table.js'
import { type CheckUnchanged, findUpsertChanges, toCreations } from '../validation/changes.js'
import type { RecordValidator } from '../validation/record-validator.js'
import { retryOnConflict, StaleValidationError } from '../validation/retry-on-conflict.js'
import type { FileRow } from './import-rows.js'

/** The part of the original request that an import keeps. */
export interface ImportMeta extends CommandMeta {
  principal: Principal
}

/** Outcome of one batch of rows. */
export interface BatchOutcome {
  written: number
  refused: RefusedRow[]
}

interface ReadRow {
  line: number
  values: Values & { id: string }
}

/** Context of the writes: the principal, the columns that identify existing records, and the validator. */
export interface BatchOptions {
  meta: ImportMeta
  on: readonly string[] | undefined
  validating: RecordValidator
}

/**
 * Writes the valid rows of a batch, in one transaction with its outcome, which is stored under the idempotency key of
 * `meta`: a batch is written once, however often its import is resumed. Rows rejected by validations are reported one
 * by one.
 */
export async function writeBatch(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  rows: readonly FileRow[],
  { meta, on, validating }: BatchOptions,
): Promise<BatchOutcome> {
  await access.refuseFull(resolvedTable)
  const unreadable: RefusedRow[] = []
  const readable = rows.flatMap((row) => readRow(resolvedTable, row, unreadable))
  const isValidated = validating.concerns(resolvedTable, on ? ['create', 'update'] : ['create'])
  return retryOnConflict(async () => {
    const refusedRows = [...unreadable]
    const referring = await withoutMissing(access, resolvedTable, readable, { meta, refused: refusedRows })
    const validate = () =>
      validateRows({ access, validating }, resolvedTable, referring, { meta, on, refused: refusedRows })
    const { left, isAsValidated } = isValidated ? await validate() : { left: referring, isAsValidated: null }
    return access.commit([resolvedTable], meta, async (tx) => {
      const written = await writeParts(tx, resolvedTable, left, { refused: refusedRows, on, isAsValidated })
      return { written, refused: refusedRows.sort((a, b) => a.line - b.line) }
    })
  })
}

/** The rows whose references point to records that the caller may see. */
async function withoutMissing(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  rows: readonly ReadRow[],
  { meta, refused }: { meta: ImportMeta; refused: RefusedRow[] },
): Promise<readonly ReadRow[]> {
  const rowValues = rows.map(({ values }) => values)
  const missing = await findMissingReferences(access, resolvedTable, rowValues, meta)
  for (const { index, column } of missing) {
    const line = rows[index]?.line
    if (line !== undefined) refused.push({ line, path: `/${column}`, message: missingReference.message })
  }
  const faulty = new Set(missing.map(({ index }) => index))
  return rows.filter((_, index) => !faulty.has(index))
}

/** The rows that pass the validations. */
async function validateRows(
  { access, validating }: { access: RecordAccess; validating: RecordValidator },
  resolvedTable: ResolvedTable,
  rows: readonly ReadRow[],
  { meta, on, refused }: { meta: CommandMeta; on: readonly string[] | undefined; refused: RefusedRow[] },
): Promise<{ left: readonly ReadRow[]; isAsValidated: CheckUnchanged | null }> {
  const rowValues = rows.map(({ values }) => values)
  const { changes, isAsValidated } = on
    ? await findUpsertChanges(access, resolvedTable, { rows: rowValues, on, placeOf: () => wholeRow })
    : { changes: toCreations(resolvedTable, rowValues, () => wholeRow), isAsValidated: null }
  const lines = new Map(changes.map((change, index) => [change, rows[index]?.line]))
  const faulty = new Set<number>()
  for (const { change, path, message } of await validating.faults(changes, meta)) {
    const line = lines.get(change)
    if (line === undefined) continue
    faulty.add(line)
    refused.push({ line, path, message })
  }
  return { left: rows.filter(({ line }) => !faulty.has(line)), isAsValidated }
}

const wholeRow: Place = { in: 'body', path: '' }

function readRow({ table }: ResolvedTable, row: FileRow, refusedRows: RefusedRow[]): ReadRow[] {
  const { line } = row
  if ('problem' in row) {
    refusedRows.push({ line, path: '', message: row.problem })
    return []
  }
  const problems = new Problems()
  const values = readRecord(table, row.given, { place: wholeRow, problems, isNew: true })
  if (problems.none) return [{ line, values: { ...values, id: newId('record') } }]
  refusedRows.push(...problems.details.map(({ path, message }) => ({ line, path, message })))
  return []
}

/** Writes all of these rows; if Postgres rejects them, writes each half separately, down to single rows. */
async function writeParts(
  tx: TransactionSql,
  resolvedTable: ResolvedTable,
  rows: readonly ReadRow[],
  options: {
    refused: RefusedRow[]
    on: readonly string[] | undefined
    isAsValidated: CheckUnchanged | null
  },
): Promise<number> {
  const [first] = rows
  if (!first) return 0
  const rowValues = rows.map(({ values }) => values)
  const { on, isAsValidated } = options
  try {
    await tx.savepoint(async (part) => {
      const answer = { answer: 'ids', ...(on && { on }) } as const
      const written = await insertGroups(
        part,
        toWriteTarget(resolvedTable),
        groupInserts(resolvedTable, rowValues, on),
        answer,
      )
      if (assertAllowed(written).length < rows.length) throw ruleForbidsError()
      isAsValidated?.(written)
    })
    return rows.length
  } catch (thrown) {
    if (thrown instanceof StaleValidationError) throw thrown
    const error = isOutdated(thrown)
      ? thrown
      : writeFailure(thrown, resolvedTable.table, '', rows.length === 1 ? first.values : {})
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
    const before = await writeParts(tx, resolvedTable, rows.slice(0, middle), options)
    return before + (await writeParts(tx, resolvedTable, rows.slice(middle), options))
  }
}
