import { articleStatuses, ciStatuses, incidentStatuses } from '@opsplane/contracts'
import { transitions as ofItems } from '../cmdb/transitions.js'
import { transitions as ofIncidents } from '../incident/transitions.js'
import { transitions as ofArticles } from '../knowledge/transitions.js'
import { stateMachine } from './state-machine.js'

/** Every kind of record with a life, by the very tables its decider goes by. */
export const stateMachines = [
  stateMachine('incident', incidentStatuses, ofIncidents),
  stateMachine('ci', ciStatuses, ofItems),
  stateMachine('article', articleStatuses, ofArticles),
]
