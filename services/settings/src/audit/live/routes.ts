import { ApiError, EventStreamQuery, StreamedEvent } from '@opsplane/contracts'
import { defineStream, type RequestMeta, type Route } from '@opsplane/http'
import { createConcurrencyLimiter } from '@opsplane/runtime'
import type { SubscriptionRules } from '@opsplane/service'
import { type Live, maxMissed, streamEvents } from './stream.js'

/** Maximum number of streams per workspace and replica. */
const streamsAtOnce = 2_000

/** Streams new events of the audit log. */
export function eventStreamRoutes(live: Live, rules: SubscriptionRules): Route[] {
  const limiter = createConcurrencyLimiter({
    perKey: streamsAtOnce,
    refusal: () =>
      new ApiError(
        'service_unavailable',
        'The workspace reads as many event streams as it may. Close some, or try again later.',
      ),
  })
  const hidesRecords = async (
    { principal, tenant }: Pick<RequestMeta, 'principal' | 'tenant'>,
    { filter }: EventStreamQuery,
  ) => !(await rules.permits(principal, tenant, { events: ['record.*'], filter }))

  return [
    defineStream({
      operationId: 'streamEvents',
      path: '/events/stream',
      summary: 'Read events as they happen',
      description:
        'Server-sent events of the workspace and environment. The first is `ready`. An `event` comes for each event of the audit log you ' +
        'may read, once and in order; its `id` is its `seq`. The permission to read an event is that of its kind, as webhooks have it; ' +
        'events of records are left out where row rules hide some of them from you, unless `filter` names other tables by ' +
        '`data.tableSlug`. With `Last-Event-ID`, or `afterSeq`, come those after that one, or a `reset` where they are more than ' +
        `${maxMissed.toLocaleString('en')}: load the page again then. A \`changed\` (\`{type, ids, isMore}\`, without \`id\`) says at most once a second that ` +
        'deliveries (`webhooks:read`), runs (`runs:read`) or executions (`executions:read`) have changed; with `isMore` also others than ' +
        'those named. A comment comes every 15 s. A reader that takes nothing for 30 s is cut. The stream ends within a second after the ' +
        'token or a permission was taken away.',
      tag: 'Events',
      scope: 'authenticated',
      workspace: 'required',
      query: EventStreamQuery,
      line: StreamedEvent,
      mediaTypes: ['text/event-stream'],
      handler: async ({ query, meta: { tenant, principal }, lastEventId, client }) => {
        // Keeps no other part of the request, such as its headers, while the stream is open.
        const options = {
          ...{ workspaceId: tenant.workspaceId, environment: tenant.environment, query, client },
          permissions: principal.permissions,
          after: placeOf(lastEventId) ?? query.afterSeq,
          hidesRecords: () => hidesRecords({ principal, tenant }, query),
        }
        return {
          frames: limiter.stream(tenant.workspaceId, () => streamEvents(live, options)),
        }
      },
    }),
  ]
}

/** A browser sends the last id it received. For an invalid id the stream starts at `afterSeq`. */
function placeOf(lastEventId: string | undefined): number | undefined {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined
}
