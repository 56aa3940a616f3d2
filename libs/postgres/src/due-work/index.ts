export { type DueTable, dueIndexes, dueNow, dueTable, leaseColumns, retryColumns } from './due-table.js'
export {
  attemptDueWork,
  createDueWork,
  type DueWork,
  type DueWorkGroup,
  type DueWorkOptions,
  type WakeHints,
} from './due-work.js'
export { type ErrorClass, isolateFailures } from './isolate.js'
export { type LeasedRow, leasedWorker } from './leased-worker.js'
export { type ResidentRow, type ResidentWork, residentWorker } from './resident-worker.js'
export {
  type ClaimedRow,
  type ClaimOptions,
  claimInstantSql,
  dueCountsStatement,
  lockStatement,
  nextDue,
  nowSql,
  releaseStatement,
  type Statement,
  workspaceDueCountsStatement,
} from './statements.js'
export { transactionWorker } from './transaction-worker.js'
export {
  type CreateWorker,
  createErrorClassifier,
  type DueCounts,
  type DueRow,
  delayFailedRows,
  type WorkContext,
  type WorkOptions,
} from './work.js'
export { createWorkspaceSlots } from './workspace-slots.js'
