import { type ReportState, resourceDecider } from '@opsplane/contracts'

export const report = resourceDecider<ReportState>({
  resourceType: 'report',
  table: 'reports',
  displayName: ({ name }) => name,
})
