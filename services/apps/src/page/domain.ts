import { type AppPageState, resourceDecider } from '@opsplane/contracts'

export const appPage = resourceDecider<AppPageState>({
  resourceType: 'app_page',
  table: 'app_pages',
  displayName: ({ title }) => title,
})
