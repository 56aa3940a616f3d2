import {
  AsOfListQuery,
  AsOfQuery,
  ExplainedSlaTimer,
  notFound,
  SlaTimer,
  SlaTimerItem,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { resolveNumbers } from '../../lists/number-references.js'
import { slaTimers as table } from '../../schema/sla.js'
import { isVisible, visibleClocks } from '../entity/visibility.js'
import { timerFilters } from '../list-filters.js'
import { explainTimer, resolveInstant } from '../policy/explain-routes.js'
import { getEntity } from '../policy/policy-lint.js'
import { timerSelection, timerSorts } from '../queries.js'
import type { Clocks } from './clocks.js'

const route = defineResource({
  name: 'SlaTimer',
  path: '/itsm/sla-timers',
  tag: 'SLA timers',
  read: 'itsm:read',
  write: 'itsm:read',
  response: SlaTimerItem,
})

/** Routes of the timers of all kinds of entity. */
export function timerRoutes(ctx: ServiceContext, { timers, pinnedPolicies }: Clocks): Route[] {
  return [
    route.list({
      summary: 'List SLA timers',
      description:
        'All given filters must hold; those of requests the caller may not see are left out. Those of the newest entities first unless `sort` says otherwise; sorted by ' +
        '`dueAt`, paused ones come after all others. With `asOf` those that began last come first. ' +
        shortPages,
      query: timerFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'dueAt'],
      handler: pageReader(ctx, {
        table,
        columns: timerSorts,
        present: listed,
        select: async ({ query, meta }) =>
          timerSelection(
            await resolveNumbers(ctx.database.db, meta.tenant, query, 'entityId'),
            visibleClocks(ctx.database.db, meta),
          ),
      }),
    }),

    route.get({
      summary: 'Explain an SLA timer',
      description:
        'Returns the intervals the timer counted, like `GET /itsm/incidents/:id/sla` for all timers of an incident. ' +
        'With `asOf`, returns them up to that instant; an instant in the future is treated as now.',
      query: AsOfQuery,
      response: ExplainedSlaTimer,
      handler: async ({ params, query, meta }) => {
        const { past, at } = resolveInstant(query.asOf, meta.now)
        const timer = await timers.asOf(params.id, meta.tenant, past)
        if (!(await isVisible(ctx.database.db, getEntity(timer.entityType), timer.entityId, meta)))
          throw notFound()
        const terms = await pinnedPolicies.load(ctx.database.sql, [timer])
        return explainTimer(timer, terms(timer), at)
      },
    }),
  ]
}

function listed({ state, version }: { state: Record<string, unknown>; version: number }): SlaTimerItem {
  const { ledger: _, fired: __, ...timer } = SlaTimer.parse(state)
  return { ...timer, version }
}
