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
        'For every kind of record its statuses, its actions, and which action leads where. These are the tables the ' +
        'service goes by. What a record allows right now, and the caller has the permission for, is in its `allowedActions`.',
      tag: 'Incidents',
      scope: 'itsm:read',
      response: z.array(StateMachine),
      handler: async () => stateMachines,
    }),
  ]
}
