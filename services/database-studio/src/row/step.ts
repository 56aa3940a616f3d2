import type { RecordOperation } from '@opsplane/contracts'
import type { Values } from './input.js'
import type { Place } from './problems.js'
import type { ResolvedTable } from './resolved-table.js'

/** One operation with its table, its values parsed. */
export interface Step {
  operation: RecordOperation
  opened: ResolvedTable
  id: string
  values: Values
  place: Place
  /** Of the record that was validated, where it is this operation that changes it first. */
  validated?: number | undefined
}
