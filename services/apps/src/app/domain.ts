import { type AppState, resourceDecider } from '@opsplane/contracts'

export const app = resourceDecider<AppState>({
  resourceType: 'app',
  table: 'apps',
  displayName: ({ name }) => name,
})
