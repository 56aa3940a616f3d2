import {
  type Decider,
  type ResourceCommand,
  resourceDecider,
  type ScheduledJobState,
} from '@opsplane/contracts'

const resource = resourceDecider<ScheduledJobState>({
  resourceType: 'scheduled_job',
  table: 'jobs',
  displayName: ({ name }) => name,
})

export const job: Decider<ScheduledJobState, ResourceCommand<ScheduledJobState>> = {
  ...resource,
  // Jobs created by an earlier version have no owner.
  expose: (state) => ({ ...state, ownerId: state.ownerId ?? null, suspendedFor: state.suspendedFor ?? [] }),
}
