import { resourceDecider, type SavedQueryState } from '@opsplane/contracts'

export const savedQuery = resourceDecider<SavedQueryState>({
  resourceType: 'query',
  table: 'saved_queries',
  displayName: ({ name }) => name,
})
