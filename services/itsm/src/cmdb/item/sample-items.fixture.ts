import type { Actor, ConfigurationItemState, NewConfigurationItem } from '@opsplane/contracts'
import type { CiStatusAction } from '../transitions.js'
import { configurationItem, type ItemCommand } from './item-domain.js'

/** Sample configuration items, each built by applying commands. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'
export const agent: Actor = { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada', type: 'user' }

export const input: NewConfigurationItem = {
  class: 'server',
  name: 'checkout-1',
  status: 'planned',
  criticality: 'medium',
  attributes: {},
  redundancy: {},
}

export const create: ItemCommand & { kind: 'create' } = {
  kind: 'create',
  id: 'ci_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  by: agent,
  now: createdAt,
  input,
  schema: null,
}

function after(...path: CiStatusAction[]): ConfigurationItemState {
  let state = configurationItem.decide(create, null).at(-1)?.after ?? null
  for (const kind of path)
    state = configurationItem.decide({ kind, now: createdAt }, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

export const items = {
  planned: after(),
  operational: after('activate'),
  non_operational: after('activate', 'fail'),
  repair_in_progress: after('activate', 'repair'),
  retired: after('activate', 'retire'),
}
