export { artifacts, artifactVersions } from './artifact/tables.js'
export { executionChanges, executionKeys, executionRecords, executions } from './execution/tables.js'
export { jobs, scheduleFires, schedules } from './job/tables.js'
export { packInstallations, packs } from './pack/tables.js'
