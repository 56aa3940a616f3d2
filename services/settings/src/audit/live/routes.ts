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
      summary: 'Stream events',
      description:
        'Streams server-sent events of the workspace and environment. The first message is `ready`. An `event` ' +
        'message is sent for each event of the audit log that you may read, exactly once and in order; its `id` is ' +
        'its `seq`. Reading an event requires the permission of its kind, as for webhooks; events of records are ' +
        'omitted if row rules hide some records from you, unless `filter` selects other tables by `data.tableSlug`. ' +
        'With `Last-Event-ID` or `afterSeq`, the stream starts after that event, or with a `reset` if more than ' +
        `${maxMissed.toLocaleString('en')} events were missed: reload the page in that case. A \`changed\` message ` +
        '(`{type, ids, isMore}`, without `id`), sent at most once a second, reports that deliveries ' +
        '(`webhooks:read`), runs (`runs:read`) or executions (`executions:read`) have changed; with `isMore`, ' +
        'further ones than the listed ones have changed as well. A comment is sent every 15 s. A client that reads ' +
        'nothing for 30 s is disconnected. The stream ends within a second after the token or a permission is ' +
        'revoked.',
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
