import { StateMachine } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import { stateMachines } from './state-machines.js'

/** Routes that return the transition tables, for clients that draw them or offer the allowed actions. */
export function stateMachineRoutes(): Route[] {
  return [
    defineRoute({
      operationId: 'getStateMachines',
      method: 'get',
      path: '/itsm/state-machines',
      summary: 'Get the state machines of the ITSM records',
      description:
        'Returns the statuses, the actions and the transitions of every kind of record. The service enforces these ' +
        'same tables. `allowedActions` of a record lists the actions that its current state and the permissions of ' +
        'the caller allow.',
      tag: 'Incidents',
      scope: 'itsm:read',
      response: z.array(StateMachine),
      handler: async () => stateMachines,
    }),
  ]
}
