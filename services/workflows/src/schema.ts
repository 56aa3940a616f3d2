export { scheduleFires, schedules } from '@opsplane/postgres'
export { runRetries } from './run/failures/tables.js'
export * from './run/tables.js'
export { skippedTriggers } from './trigger/tables.js'
export {
  revokedVersions,
  versionGrants,
  workflowDrafts,
  workflows,
  workflowVersions,
} from './workflow/tables.js'
