import type { RecordOperation } from '@opsplane/contracts'
import type { Values } from './input.js'
import type { Place } from './problems.js'
import type { ResolvedTable } from './resolved-table.js'

/** An operation with its table and parsed values. */
export interface Step {
  operation: RecordOperation
  opened: ResolvedTable
  id: string
  values: Values
  place: Place
  /** Version of the validated record, if this operation is the first to change it. */
  validated?: number | undefined
}
