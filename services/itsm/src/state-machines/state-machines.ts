import {
  articleStatuses,
  changeStatuses,
  ciStatuses,
  incidentStatuses,
  problemStatuses,
} from '@opsplane/contracts'
import { transitions as ofChanges } from '../change/transitions.js'
import { transitions as ofItems } from '../cmdb/transitions.js'
import { transitions as ofIncidents } from '../incident/transitions.js'
import { transitions as ofArticles } from '../knowledge/transitions.js'
import { transitions as ofProblems } from '../problem/transitions.js'
import { stateMachine } from './state-machine.js'

/** Every kind of record with a life, by the very tables its decider goes by. */
export const stateMachines = [
  stateMachine('incident', incidentStatuses, ofIncidents),
  stateMachine('change', changeStatuses, ofChanges),
  stateMachine('problem', problemStatuses, ofProblems),
  stateMachine('ci', ciStatuses, ofItems),
  stateMachine('article', articleStatuses, ofArticles),
]
