import { resourceDecider, type TableState } from '@opsplane/contracts'

export const table = resourceDecider<TableState>({
  resourceType: 'table',
  table: 'tables',
  displayName: ({ name }) => name,
})
