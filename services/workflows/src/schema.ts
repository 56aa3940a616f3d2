export { workflowDrafts, workflows, workflowVersions } from './workflow/tables.js'
