import { type DataSourceState, resourceDecider } from '@opsplane/contracts'

export const dataSource = resourceDecider<DataSourceState>({
  resourceType: 'data_source',
  table: 'data_sources',
  displayName: ({ name }) => name,
})
