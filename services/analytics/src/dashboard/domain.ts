import { type DashboardState, resourceDecider } from '@opsplane/contracts'

export const dashboard = resourceDecider<DashboardState>({
  resourceType: 'dashboard',
  table: 'dashboards',
  displayName: ({ name }) => name,
})
