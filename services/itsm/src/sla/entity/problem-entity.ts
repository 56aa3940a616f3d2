import { ProblemState, problemEvents } from '@opsplane/contracts'
import { slaEntity } from './entity.js'

const open = ['new', 'assess', 'root_cause_analysis', 'fix_in_progress']

export const problemEntity = slaEntity({
  entityType: 'problem',
  table: 'problems',
  numberPrefix: 'PRB-',
  durable: 'itsm-problem-timers',
  eventTypes: Object.keys(problemEvents),
  metrics: { resolution: open },
  goalsBy: ['priority', 'all'],
  pauseReasons: null,
  openStatuses: open,
  state: ProblemState,
  facts: ({ id, number, createdAt, status, priority, resolution }) => ({
    ...{ id, number, createdAt, status, priority, severity: null, holdReason: null, response: null },
    ended: resolution === null ? null : resolution === 'canceled' ? 'canceled' : 'completed',
  }),
})
