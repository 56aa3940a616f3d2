import { CatalogRequestState, catalogRequestEvents } from '@opsplane/contracts'
import { visibleTo } from '../../catalog/access.js'
import { catalogRequests } from '../../schema/catalog.js'
import type { SpanSignal } from './entity.js'
import { slaEntity } from './entity.js'

const open = ['draft', 'submitted', 'awaiting_approval', 'approved', 'fulfilling']

export const requestEntity = slaEntity({
  entityType: 'request',
  table: 'catalog_requests',
  numberPrefix: 'REQ-',
  durable: 'itsm-request-timers',
  eventTypes: Object.keys(catalogRequestEvents),
  metrics: { resolution: open, approval: ['awaiting_approval'] },
  goalsBy: ['all'],
  pauseReasons: null,
  openStatuses: open,
  restricted: { rows: catalogRequests, visibleTo },
  state: CatalogRequestState,
  facts: ({ id, number, createdAt, status }) => ({
    ...{ id, number, createdAt, status, severity: null, priority: null, holdReason: null, response: null },
    ended: findEnd(status),
    spans: { approval: approval(status) },
  }),
})

/** Rejecting a request is both a decision and its end. */
function approval(status: CatalogRequestState['status']): SpanSignal {
  if (status === 'awaiting_approval') return { is: 'waiting', reason: null }
  if (status === 'canceled') return { is: 'off', reason: 'request canceled' }
  return { is: 'done', reason: status === 'rejected' ? 'rejected' : 'approved' }
}

function findEnd(status: CatalogRequestState['status']) {
  if (status === 'rejected' || status === 'canceled') return 'canceled'
  return status.startsWith('closed_') ? 'completed' : null
}
