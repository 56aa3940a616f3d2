import { type PackState, resourceDecider } from '@opsplane/contracts'

export const pack = resourceDecider<PackState>({
  resourceType: 'pack',
  table: 'packs',
  displayName: ({ name }) => name,
})
