import {
  ChangeQuery,
  type DeliveryChange,
  DeliveryChanges,
  deliveryChangesPath,
  hostOfUrl,
} from '@opsplane/contracts'
import { type ChangeFeed, type Positions, readChanges } from '@opsplane/eventstore'
import { defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'

/** The positions of delivery changes are taken from this sequence. */
export const deliveryPositions: Positions = { table: 'deliveries', sequence: 'delivery_changes' }

type Row = Omit<DeliveryChange, 'host'> & { url: string }

/** Change feed from which analytics counts deliveries, which are not events. See ADR 086. */
const deliveryFeed: ChangeFeed<Row, DeliveryChange> = {
  ...deliveryPositions,
  columns: `id, workspace_id as "workspaceId", environment, webhook_id as "webhookId", event_type as "eventType", url, status,
    attempts, replay_of is not null as "isReplay", created_at as "createdAt", last_attempt_at as "lastAttemptAt",
    last_response_status as "responseStatus", last_duration_ms as "durationMs", last_error_kind as "errorKind"`,
  changeOf: ({ url, ...row }) => ({ ...row, host: URL.canParse(url) ? hostOfUrl(url) : null }),
}

export function deliveryChangeRoutes(database: Pick<Database, 'sql'>): Route[] {
  return [
    defineRoute({
      operationId: 'listDeliveryChanges',
      method: 'get',
      path: deliveryChangesPath,
      summary: 'List deliveries attempted since a position',
      tag: 'Internal',
      scope: 'service',
      callers: ['analytics'],
      query: ChangeQuery,
      response: DeliveryChanges,
      handler: ({ query }) => readChanges(database, deliveryFeed, query),
    }),
  ]
}
