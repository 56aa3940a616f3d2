import { CiStatusReason } from '@opsplane/contracts'
import type { Route } from '@opsplane/http'
import { type CiStatusAction, statusActions } from '../transitions.js'
import { route } from './item-routes.js'
import type { ItemStore } from './item-store.js'

const texts: Record<CiStatusAction, { summary: string; description: string }> = {
  activate: {
    summary: 'Put a configuration item into service',
    description:
      'Allowed for items that are planned, non-operational or under repair. Emits `ci.status_changed`.',
  },
  fail: {
    summary: 'Report a configuration item as failed',
    description: 'Allowed for items that are operational or under repair. Emits `ci.status_changed`.',
  },
  repair: {
    summary: 'Start repairing a configuration item',
    description: 'Allowed for items that are operational or non-operational. Emits `ci.status_changed`.',
  },
  retire: {
    summary: 'Retire a configuration item',
    description:
      'Retirement is final: a retired item cannot be changed, receive new relations or be referenced by a new ' +
      'incident. Emits `ci.retired`.',
  },
}

/** Routes of the actions that change the status. All request bodies are optional. */
export function itemActionRoutes(items: ItemStore): Route[] {
  return statusActions.map((action) =>
    route.action(action, {
      ...texts[action],
      body: CiStatusReason,
      errors: ['invalid_state_transition'],
      handler: ({ params, body, meta }) =>
        items.handle(params.id, { kind: action, now: meta.now, reason: body.reason }, meta),
    }),
  )
}
