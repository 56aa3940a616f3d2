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
  /** Where one of them stands in the body. */
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
 * What a client is answered for rows of one statement that Postgres refused: Postgres names no row, so they are written again in
 * halves until one stands alone, and undone. The table's error as a whole where there is none by then.
 */
export async function toRowsError(
  access: RecordAccess,
  opened: ResolvedTable,
  { rows, pathOf, on }: Written,
  meta: CommandMeta,
  error: unknown,
): Promise<unknown> {
  if (!isRefusedRow(error)) return error
  const { idempotency: _, ...undone } = meta
  const insert = (tx: StatementRunner, part: readonly Values[]) =>
    insertGroups(tx, toWriteTarget(opened), groupInserts(opened, part, on), {
      answer: 'ids',
      ...(on && { on }),
    })
  const refused = await access
    .commit([opened], undone, async (tx) => {
      throw new Found(await firstRefused(tx, rows, 0, insert))
    })
    .catch((thrown: unknown) => (thrown instanceof Found ? thrown.refused : undefined))
  const { index, error: cause } = refused ?? { index: firstRepeated(rows, on ?? []), error }
  const values = rows[index]
  return values ? toRowError(access, opened, { path: pathOf(index), values }, cause) : error
}

/** The same for one row alone; what cannot be read is found by reading each of its columns. */
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

/** The first row of which another one before it has the key; by themselves they follow one another. */
function firstRepeated(rows: readonly Values[], on: readonly string[]): number {
  const keys = rows.map((row) => stringifyExact(on.map((name) => row[name])))
  return on.length === 0 ? -1 : keys.findIndex((key, at) => keys.indexOf(key) < at)
}
