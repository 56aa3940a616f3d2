import type { Values } from '../row/input.js'
import type { Place } from '../row/problems.js'
import type { RecordAccess } from '../row/record-access.js'
import type { ResolvedTable, Row } from '../row/resolved-table.js'
import { marks } from '../row/write-statements.js'
import { applyValues, findExistingRecords } from './record-images.js'
import type { Change } from './record-validator.js'
import { StaleValidationError } from './retry-on-conflict.js'

/** New records, in order. */
export const toCreations = (
  opened: ResolvedTable,
  rows: readonly Values[],
  placeOf: (index: number) => Place,
): Change[] =>
  rows.map((after, index) => ({ opened, operation: 'create', before: null, after, place: placeOf(index) }))

/** Throws StaleValidationError unless these records were written as they were validated. */
export type CheckUnchanged = (written: readonly Row[]) => void

/** The changes made by an upsert: created records, and changes of existing ones. In the order of `rows`. */
export async function findUpsertChanges(
  access: Pick<RecordAccess, 'read'>,
  resolvedTable: ResolvedTable,
  { rows, on, placeOf }: { rows: readonly Values[]; on: readonly string[]; placeOf(index: number): Place },
): Promise<{ changes: Change[]; isAsValidated: CheckUnchanged }> {
  const existing = await findExistingRecords(access, resolvedTable, { rows, on })
  const changes = rows.map((row, index): Change => {
    const before = existing.get(String(row.id)) ?? null
    const place = placeOf(index)
    if (!before) return { opened: resolvedTable, operation: 'create', before, after: row, place }
    const { id: _, ...values } = row
    return {
      opened: resolvedTable,
      operation: 'update',
      before,
      after: applyValues(resolvedTable.table, before, values),
      place,
    }
  })
  return { changes, isAsValidated: asValidated(changes) }
}

function asValidated(changes: readonly Change[]): CheckUnchanged {
  const versions = new Map(
    changes.map(({ before, after }) => [before?.id ?? after?.id, Number(before?.version ?? 0)]),
  )
  return (written) => {
    for (const row of written) {
      const version = versions.get(row.id)
      const wasThere = version !== 0
      const isUnraced = version !== undefined && (row[marks.created] === true) !== wasThere
      // A record that already has these values keeps its version.
      if (!isUnraced || row.version > version + 1) throw new StaleValidationError()
    }
  }
}
