export { type DueTable, dueIndexes, dueTable, heldColumns, leaseColumns } from './due-table.js'
export {
  createDueWork,
  type DueWork,
  type DueWorkGroup,
  type DueWorkOptions,
  type WakeHints,
} from './due-work.js'
export { type Isolated, isolate, type Meaning } from './isolate.js'
export { type LeasedOptions, type LeasedRow, leased } from './leased.js'
export { type ClaimOptions, lockStatement, type Statement, setbackStatement } from './statements.js'
export { type WithinOptions, within } from './within.js'
export type { DueCounts, DueRow, MakeWorker, StatementRunner } from './work.js'
