export { type DueTable, dueIndexes, dueNow, dueTable, heldColumns, leaseColumns } from './due-table.js'
export {
  attemptDueWork,
  createDueWork,
  type DueWork,
  type DueWorkGroup,
  type DueWorkOptions,
  type WakeHints,
} from './due-work.js'
export { type HeldOptions, type HeldRow, type Holder, held } from './held.js'
export { type Isolated, isolate, type Meaning } from './isolate.js'
export { type LeasedOptions, type LeasedRow, leased } from './leased.js'
export { createPlaces, type Places } from './places.js'
export {
  type ClaimOptions,
  claimedAt,
  dueCountsOf,
  dueCountsOfWorkspace,
  giveBackStatement,
  type Held,
  lockStatement,
  nextDue,
  present,
  type Statement,
} from './statements.js'
export { type WithinOptions, within } from './within.js'
export {
  type DueCounts,
  type DueRow,
  holdBack,
  type MakeWorker,
  meaningOf,
  type WorkContext,
  type WorkOptions,
} from './work.js'
