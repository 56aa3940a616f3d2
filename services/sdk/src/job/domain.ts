import { resourceDecider, type ScheduledJobState } from '@opsplane/contracts'

export const job = resourceDecider<ScheduledJobState>({
  resourceType: 'scheduled_job',
  table: 'jobs',
  displayName: ({ name }) => name,
})
