import { ExplainedSlaTimer, Moment, SlaClockState, SlaEntityType, SlaTimerItem } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import { z } from 'zod'
import { reference, severalOf } from '../lists/filters.js'
import type { Clocks } from './clocks.js'
import { explained } from './explain-routes.js'
import { timerConditions } from './queries.js'
import { storedTimer } from './stored-timer.js'
import { slaTimers as table } from './tables.js'

const tag = 'SLA clocks'

const timerFilters = z.object({
  entityType: SlaEntityType.optional(),
  entityId: reference.optional().meta({ description: 'What the clocks run over.' }),
  policyId: reference.optional(),
  state: severalOf(SlaClockState)
    .optional()
    .meta({
      description: 'One or several states, repeated or separated by commas.',
      example: ['running', 'paused'],
    }),
  breached: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Whether they are past their goal.', example: 'true' }),
  dueBefore: Moment.optional().meta({ description: 'Due earlier than this; paused ones are not.' }),
})

const sortColumns = { createdAt: table.createdAt, dueAt: table.dueOrder }

/** The clocks of everything there is. */
export function timerRoutes({ database, cursors }: BackendContext, { timers, termsOf }: Clocks): Route[] {
  return [
    defineList({
      operationId: 'listSlaTimers',
      path: '/itsm/sla-timers',
      summary: 'List SLA clocks',
      description:
        'All given filters must hold. Those of the newest entities first unless `sort` says otherwise; sorted by ' +
        '`dueAt`, paused ones come after all others.',
      tag,
      scope: 'itsm:read',
      query: timerFilters,
      sorts: ['-createdAt', 'dueAt'],
      response: SlaTimerItem,
      handler: ({ query: { limit, after, sort, ...filters }, binding, meta }) =>
        keysetPage(database.db, {
          table,
          tenant: meta.tenant,
          where: timerConditions(filters),
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors, present: listed },
        }),
    }),

    defineRoute({
      operationId: 'getSlaTimer',
      method: 'get',
      path: '/itsm/sla-timers/:id',
      summary: 'Explain an SLA clock',
      description:
        'What it counted when, as `GET /itsm/incidents/:id/sla` does for all clocks of an incident.',
      tag,
      scope: 'itsm:read',
      response: ExplainedSlaTimer,
      errors: ['not_found'],
      handler: async ({ params, meta }) => {
        const timer = await timers.get(params.id, meta.tenant)
        const terms = await termsOf.load(database.sql, [timer])
        return explained(timer, terms(timer), meta.now)
      },
    }),
  ]
}

function listed({ state, version }: { state: Record<string, unknown>; version: number }): SlaTimerItem {
  const { ledger: _, fired: __, ...timer } = storedTimer(state)
  return { ...timer, version }
}
