import { ChangeState, changeEvents } from '@opsplane/contracts'
import type { SpanSignal } from './entity.js'
import { slaEntity } from './entity.js'

const open = [
  ...['draft', 'assess', 'authorize', 'scheduled', 'implementing', 'review', 'rolled_back'],
  'on_hold',
]
const undecided = ['assess', 'authorize']

/** A change on hold keeps its status. For SLA policies it counts as having the status `on_hold`. */
export const changeEntity = slaEntity({
  entityType: 'change',
  table: 'changes',
  numberPrefix: 'CHG-',
  durable: 'itsm-change-timers',
  eventTypes: Object.keys(changeEvents),
  metrics: { resolution: open, approval: undecided },
  goalsBy: ['all'],
  pauseReasons: null,
  openStatuses: open,
  state: ChangeState,
  facts: ({ id, number, createdAt, status, onHold, rejectionReason }) => ({
    ...{ id, number, createdAt, severity: null, priority: null, holdReason: null, response: null },
    status: onHold ? 'on_hold' : status,
    ended: status === 'closed' ? 'completed' : status === 'canceled' ? 'canceled' : null,
    spans: { approval: approval({ status, onHold, rejectionReason }) },
  }),
})

/** A change that returns to draft without a rejection had its approvals voided by an edit, so no decision was made. */
function approval({
  status,
  onHold,
  rejectionReason,
}: Pick<ChangeState, 'status' | 'onHold' | 'rejectionReason'>): SpanSignal {
  if (undecided.includes(status))
    return onHold ? { is: 'held', reason: 'on_hold' } : { is: 'waiting', reason: null }
  if (status === 'canceled') return { is: 'off', reason: 'change canceled' }
  if (status !== 'draft') return { is: 'done', reason: 'approved' }
  return rejectionReason === null ? { is: 'off', reason: 'withdrawn' } : { is: 'done', reason: 'rejected' }
}
