export { dataKeys } from '@opsplane/postgres'
export { artifacts, artifactVersions } from './artifact/tables.js'
export {
  executionChanges,
  executionKeys,
  executionRecords,
  executionResults,
  executions,
} from './execution/tables.js'
export { jobs, scheduleFires, schedules } from './job/tables.js'
export { packInstallations, packs } from './pack/tables.js'
export { executionRetries } from './retry/tables.js'
