import {
  articleStatuses,
  catalogItemStatuses,
  catalogRequestStatuses,
  catalogTaskStatuses,
  changeStatuses,
  ciStatuses,
  incidentStatuses,
  MajorState,
  problemStatuses,
} from '@opsplane/contracts'
import { itemTransitions } from '../catalog/item-transitions.js'
import { automaticTransitions, requestTransitions } from '../catalog/request-transitions.js'
import { taskTransitions } from '../catalog/task-transitions.js'
import { transitions as ofChanges } from '../change/transitions.js'
import { transitions as ofItems } from '../cmdb/transitions.js'
import { majorTransitions } from '../incident/major/major.js'
import { transitions as ofIncidents } from '../incident/transitions.js'
import { transitions as ofArticles } from '../knowledge/transitions.js'
import { transitions as ofProblems } from '../problem/transitions.js'
import { stateMachine } from './state-machine.js'

/** All kinds of record with a status, built from the tables that their deciders use. */
export const stateMachines = [
  stateMachine('incident', incidentStatuses, ofIncidents),
  stateMachine('major_incident', MajorState.options, majorTransitions),
  stateMachine('change', changeStatuses, ofChanges),
  stateMachine('problem', problemStatuses, ofProblems),
  stateMachine('ci', ciStatuses, ofItems),
  stateMachine('catalog_item', catalogItemStatuses, itemTransitions),
  stateMachine('request', catalogRequestStatuses, { ...requestTransitions, proceed: automaticTransitions }),
  // Tasks that wait for other tasks are opened or skipped automatically when those end.
  stateMachine('task', catalogTaskStatuses, {
    ...taskTransitions,
    release: { pending: ['open', 'skipped'] },
  }),
  stateMachine('article', articleStatuses, ofArticles),
]
