export { afterCommit } from './after-commit.js'
export * from './budget-leases.js'
export { computedBy } from './computed-columns.js'
export * from './connection-capacity.js'
export * from './connection-pool.js'
export * from './data-keys.js'
export {
  connect,
  type Database,
  type Drizzle,
  exactJson,
  openClient,
  type StatementRunner,
} from './database.js'
export {
  attemptDueWork,
  type ClaimedRow,
  type ClaimOptions,
  type CreateWorker,
  claimInstantSql,
  createDueWork,
  createErrorClassifier,
  createWorkspaceSlots,
  type DueRow,
  type DueWork,
  type DueWorkGroup,
  delayFailedRows,
  dueCountsStatement,
  dueIndexes,
  dueNow,
  dueTable,
  isolateFailures,
  type LeasedRow,
  leaseColumns,
  leasedWorker,
  lockStatement,
  nextDue,
  nowSql,
  type ResidentRow,
  type ResidentWork,
  releaseStatement,
  residentWorker,
  retryColumns,
  type Statement,
  transactionWorker,
  type WakeHints,
  type WorkContext,
  type WorkOptions,
  workspaceDueCountsStatement,
} from './due-work/index.js'
export * from './dump/index.js'
export {
  answerToPostgresError,
  databaseFault,
  foreignKeyViolation,
  isDatabaseUnavailable,
  isDeadlock,
  isDependencyUnavailable,
  isLockTimeout,
  isMissingPartition,
  isTransient,
  translatePostgresError,
  uniqueViolation,
} from './errors.js'
export * from './failures/failure-groups.js'
export {
  createGroupRetries,
  type GroupRetries,
  type GroupRetryKind,
  type StartedRetry,
} from './failures/group-retries.js'
export {
  dueGroupRetries,
  groupRetryColumns,
  groupRetryIndexes,
} from './failures/group-retry-table.js'
export { type GroupRetryRow, groupRetryWork } from './failures/group-retry-work.js'
export * from './group-commit.js'
export {
  type DatabaseIdentity,
  dataDatabaseName,
  findInstallation,
  formatRole,
  type Installation,
  InstallationError,
  installationIdPattern,
  isAtRecordedLocation,
  markRole,
  moveRoles,
  newInstallation,
  readIdentity,
  recordLocation,
  refuseForeign,
  refuseForeignRole,
  toInstallation,
} from './installation/index.js'
export * from './json-array.js'
export * from './keyset.js'
export type { KeysetTable } from './keyset-scan.js'
export { asciiLocaleWarning, hasUnicodeLocale } from './locale.js'
export { type AnswerMeter, createMeteredSocket } from './metered-socket.js'
export { withGuardedConnections } from './one-connection.js'
export * from './partitions.js'
export { minConnections } from './pool-sizes.js'
export * from './provision.js'
export * from './read-model.js'
export * from './results/rows.js'
export * from './results/type-names.js'
export { checkParameter, type Json, parameterText } from './results/values.js'
export * from './schedules/index.js'
export { isPooled, parseServerTarget } from './server-target.js'
export * from './sql-text.js'
export * from './text-search.js'
export * from './transaction.js'
export { createVault, dataKeys, type Vault } from './vault.js'
