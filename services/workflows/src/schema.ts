export { scheduleFires, schedules } from '@opsplane/postgres'
export * from './run/tables.js'
export { skippedTriggers } from './trigger/tables.js'
export {
  revokedVersions,
  versionGrants,
  workflowDrafts,
  workflows,
  workflowVersions,
} from './workflow/tables.js'
