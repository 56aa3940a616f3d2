import { ChangeState, changeEvents } from '@opsplane/contracts'
import { slaEntity } from './entity.js'

/** A change on hold keeps its status; policies pause in `on_hold` as if it were one. */
export const changeEntity = slaEntity({
  entityType: 'change',
  table: 'changes',
  numberPrefix: 'CHG-',
  eventTypes: Object.keys(changeEvents),
  metrics: ['resolution'],
  goalsBy: ['all'],
  pauseReasons: null,
  openStatuses: [
    ...['draft', 'assess', 'authorize', 'scheduled', 'implementing', 'review', 'rolled_back'],
    'on_hold',
  ],
  state: ChangeState,
  facts: ({ id, number, createdAt, status, onHold }) => ({
    ...{ id, number, createdAt, severity: null, priority: null, holdReason: null, response: null },
    status: onHold ? 'on_hold' : status,
    ended: status === 'closed' ? 'completed' : status === 'canceled' ? 'canceled' : null,
  }),
})
