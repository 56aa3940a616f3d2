export * from './run/tables.js'
export { workflowDrafts, workflows, workflowVersions } from './workflow/tables.js'
