import { type CommandMeta, stringifyExact } from '@opsplane/contracts'
import { quoteIdentifier, type StatementRunner } from '@opsplane/postgres'
import type { TransactionSql } from 'postgres'
import { isRefusedRow, isUnreadable, writeFailure } from '../row/failures.js'
import type { Values } from '../row/input.js'
import { groupInserts, insertGroups, toWriteTarget } from '../row/inserts.js'
import { Parameters } from '../row/parameters.js'
import type { RecordAccess } from '../row/record-access.js'
import type { ResolvedTable } from '../row/resolved-table.js'

interface Written {
  rows: readonly Values[]
  /** The place of a row in the body. */
  pathOf(index: number): string
  on?: readonly string[]
}

class Found {
  constructor(readonly refused: Refused | undefined) {}
}

interface Refused {
  index: number
  error: unknown
}

/**
 * Finds the row for which Postgres rejected a statement. Postgres names no row, so the rows are written again in halves
 * until a single one fails, and rolled back. Returns the table-level error if no row fails any more.
 */
export async function toRowsError(
  access: RecordAccess,
  resolvedTable: ResolvedTable,
  { rows, pathOf, on }: Written,
  meta: CommandMeta,
  error: unknown,
): Promise<unknown> {
  if (!isRefusedRow(error)) return error
  const { idempotency: _, ...undone } = meta
  const insert = (tx: StatementRunner, part: readonly Values[]) =>
    insertGroups(tx, toWriteTarget(resolvedTable), groupInserts(resolvedTable, part, on), {
      answer: 'ids',
      ...(on && { on }),
    })
  const refusedRow = await access
    .commit([resolvedTable], undone, async (tx) => {
      throw new Found(await firstRefused(tx, rows, 0, insert))
    })
    .catch((thrown: unknown) => (thrown instanceof Found ? thrown.refused : undefined))
  const { index, error: cause } = refusedRow ?? { index: firstRepeated(rows, on ?? []), error }
  const values = rows[index]
  return values ? toRowError(access, resolvedTable, { path: pathOf(index), values }, cause) : error
}

/** Same for a single row; an unparseable value is found by reading each column. */
export async function toRowError(
  { read }: Pick<RecordAccess, 'read'>,
  { space, table }: ResolvedTable,
  { path, values }: { path: string; values: Values },
  error: unknown,
): Promise<unknown> {
  if (!isUnreadable(error)) return writeFailure(error, table, path, values)
  for (const [column, value] of Object.entries(values)) {
    const parameters = new Parameters()
    const row = parameters.bind(stringifyExact({ [column]: value }), 'json')
    const text = `select from json_populate_record(null::${quoteIdentifier(space.schema)}.${quoteIdentifier(table.slug)}, ${row})`
    const unreadable = await read(space, { text, parameters: parameters.values }).then(
      () => undefined,
      (thrown: unknown) => (isUnreadable(thrown) ? thrown : undefined),
    )
    if (unreadable) return writeFailure(unreadable, table, path, values, column)
  }
  return writeFailure(error, table, path, values)
}

async function firstRefused(
  tx: TransactionSql,
  rows: readonly Values[],
  from: number,
  insert: (tx: StatementRunner, part: readonly Values[]) => Promise<unknown>,
): Promise<Refused | undefined> {
  if (rows.length === 0) return undefined
  try {
    await tx.savepoint((part) => insert(part, rows))
    return undefined
  } catch (error) {
    if (rows.length === 1 || !isRefusedRow(error)) return { index: from, error }
    const middle = rows.length >> 1
    return (
      (await firstRefused(tx, rows.slice(0, middle), from, insert)) ??
      firstRefused(tx, rows.slice(middle), from + middle, insert)
    )
  }
}

/** Index of the first row whose key occurs in an earlier row; written one by one they would not conflict. */
function firstRepeated(rows: readonly Values[], on: readonly string[]): number {
  const keys = rows.map((row) => stringifyExact(on.map((name) => row[name])))
  return on.length === 0 ? -1 : keys.findIndex((key, at) => keys.indexOf(key) < at)
}
