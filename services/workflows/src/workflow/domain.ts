import { resourceDecider, type WorkflowState } from '@opsplane/contracts'

export const workflow = resourceDecider<WorkflowState>({
  resourceType: 'workflow',
  table: 'workflows',
  displayName: ({ name }) => name,
})
