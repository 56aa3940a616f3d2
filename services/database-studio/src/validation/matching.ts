import type { CommandMeta } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { tooManyError } from '../row/failures.js'
import type { Condition } from '../row/filter.js'
import type { Values } from '../row/input.js'
import type { Statement } from '../row/parameters.js'
import type { Place } from '../row/problems.js'
import { type RecordAccess, runStatement } from '../row/record-access.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import { applyValues, findMatchingIds, findRecords } from './record-images.js'
import type { RecordValidator } from './record-validator.js'
import { retryOnConflict, StaleValidationError } from './retry-on-conflict.js'

/** A change of all records that match a filter. */
export interface FilteredChange {
  operation: 'update' | 'delete'
  /** New values of each record. */
  values: Values
  place: Place
  where(conditions: readonly Condition[]): Statement
  /** A statement limited to these records, if they still have these versions. */
  those(rows: { id: string; version: number }[]): Statement
}

/** Validates the matching records, then changes exactly these records in the validated versions. */
export const validateMatching = <T>(
  { access, validating }: { access: Pick<RecordAccess, 'read'>; validating: RecordValidator },
  asked: { opened: ResolvedTable; conditions: readonly Condition[]; changing: FilteredChange; limit: number },
  meta: CommandMeta,
  write: (change: (tx: StatementRunner) => Promise<Row[]>) => Promise<T>,
): Promise<T> =>
  retryOnConflict(async () => {
    const { opened, conditions, changing, limit } = asked
    const { operation, values, place } = changing
    const ids = await findMatchingIds(access, opened, conditions, limit)
    if (ids.length > limit) throw tooManyError(limit)
    const found = [...(await findRecords(access, opened, ids)).values()]
    await validating.check(
      found.map((before) => {
        const after = operation === 'update' ? applyValues(opened.table, before, values) : null
        return { opened, operation, before, after, place }
      }),
      meta,
    )
    return write(async (tx) => {
      const rows = await runStatement(tx, changing.those(found.map(({ id, version }) => ({ id, version }))))
      if (rows.length < found.length) throw new StaleValidationError()
      return rows
    })
  })
