import { CatalogRequestState, catalogRequestEvents } from '@opsplane/contracts'
import { visibleTo } from '../catalog/access.js'
import { catalogRequests } from '../catalog/tables.js'
import { slaEntity } from './entity.js'

export const requestEntity = slaEntity({
  entityType: 'request',
  table: 'catalog_requests',
  numberPrefix: 'REQ-',
  eventTypes: Object.keys(catalogRequestEvents),
  metrics: ['resolution'],
  goalsBy: ['all'],
  pauseReasons: null,
  openStatuses: ['draft', 'submitted', 'awaiting_approval', 'approved', 'fulfilling'],
  restricted: { rows: catalogRequests, visibleTo },
  state: CatalogRequestState,
  facts: ({ id, number, createdAt, status }) => ({
    ...{ id, number, createdAt, status, severity: null, priority: null, holdReason: null, response: null },
    ended: endOf(status),
  }),
})

function endOf(status: CatalogRequestState['status']) {
  if (status === 'rejected' || status === 'canceled') return 'canceled'
  return status.startsWith('closed_') ? 'completed' : null
}
