import {
  ApiError,
  Delivery,
  DeliveryDetail,
  eventPermission,
  FailureGroup,
  idSchema,
  missingRights,
  redactedValue,
} from '@opsplane/contracts'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { CursorCodec } from '@opsplane/runtime'
import type { SubscriptionRules } from '@opsplane/service'
import type { WebhookAggregate } from '../webhook/webhook-store.js'
import { deliveryFailures } from './failures/groups.js'
import { deliveryFilters, filtersOverWebhooks } from './list-filters.js'
import { getDelivery, listDeliveries } from './queries.js'

const tag = 'Webhooks'
const deliveryId = idSchema('delivery')

interface DeliveryRoutesContext {
  database: Database
  aggregate: WebhookAggregate
  rules: SubscriptionRules
  cursors: CursorCodec
}

export function deliveryRoutes({ database, aggregate, rules, cursors }: DeliveryRoutesContext): Route[] {
  const list = defineList({
    operationId: 'listWebhookDeliveries',
    path: '/webhooks/:id/deliveries',
    summary: 'List the deliveries of a webhook, newest first',
    description:
      '`after` is the id of a delivery; the page continues with older ones. Deliveries are kept for 30 days by ' +
      'default, as configured by the installation, and longer while they are unfinished.',
    tag,
    scope: 'webhooks:read',
    query: deliveryFilters,
    response: Delivery,
    handler: async ({ params, query, meta }) => {
      const { id: webhookId, status: webhookStatus } = await aggregate.get(params.id, meta.tenant)
      checkCursor(query.after)
      const of = { webhookId, webhookStatus }
      return listDeliveries(database, { ...query, tenant: meta.tenant, of })
    },
  })

  const listAll = defineList({
    operationId: 'listDeliveries',
    path: '/deliveries',
    summary: 'List deliveries of all webhooks, newest first',
    description:
      'Lists all deliveries of the workspace and environment, including those of deleted webhooks. `after` is the ' +
      'id of a delivery; the page continues with older ones.',
    tag,
    scope: 'webhooks:read',
    query: filtersOverWebhooks,
    response: Delivery,
    handler: async ({ query: { webhookId, ...query }, meta: { tenant } }) => {
      checkCursor(query.after)
      if (webhookId === undefined) return listDeliveries(database, { ...query, tenant, of: 'all' })
      const webhook = await aggregate.find(webhookId, tenant)
      const of = { webhookId, webhookStatus: webhook?.state.status ?? null }
      return listDeliveries(database, { ...query, tenant, of })
    },
  })

  const failures = defineList({
    operationId: 'listDeliveryFailures',
    path: '/deliveries/failures',
    summary: 'List failed deliveries by webhook and cause',
    description:
      'Considers the last delivery of each event to a webhook, and lists those that have failed: events that were ' +
      'replayed successfully or are being delivered are not listed, nor are deliveries of deleted webhooks. The ' +
      'group with the latest failure comes first.',
    tag,
    scope: 'webhooks:read',
    sorts: [],
    response: FailureGroup,
    handler: ({ query: { limit, after }, binding, meta: { tenant } }) =>
      deliveryFailures(database, { tenant, limit, after, binding, cursors }),
  })

  const listOfEvent = defineList({
    operationId: 'listEventDeliveries',
    path: '/events/:id/deliveries',
    summary: 'List the deliveries of an event, newest first',
    description:
      'Lists the deliveries to every webhook of the workspace and environment, including replays. `after` is the ' +
      'id of a delivery; the page continues with older ones. The list is empty if no webhook matched the event.',
    tag,
    scope: 'webhooks:read',
    query: deliveryFilters.omit({ eventType: true }),
    response: Delivery,
    handler: async ({ params, query, meta }) => {
      checkCursor(query.after)
      return listDeliveries(database, { ...query, tenant: meta.tenant, of: { eventId: params.id } })
    },
  })

  const shownTo = async (meta: RequestMeta, delivery: DeliveryDetail) =>
    (await maySeeEvent(rules, meta, delivery)) ? delivery : withoutEvent(delivery)

  const get = defineRoute({
    operationId: 'getWebhookDelivery',
    method: 'get',
    path: '/webhooks/:id/deliveries/:deliveryId',
    summary: 'Get a delivery of a webhook',
    description:
      'Returns the delivery with its requests and responses. Secrets in headers are shown as `***`, also if the ' +
      'endpoint echoes them unchanged or in base64, hexadecimal, URLs or JSON; an echo that is reversed, split or ' +
      'encoded in another way is shown unchanged. For callers who may not read such events, the body is also shown ' +
      'as `***`, because it contains the data of the event.',
    tag,
    scope: 'webhooks:read',
    response: DeliveryDetail,
    handler: async ({ params, meta }) => {
      await aggregate.get(params.id, meta.tenant)
      const { id: webhookId, deliveryId } = params
      return shownTo(meta, await getDelivery(database, meta.tenant, { deliveryId, webhookId }))
    },
  })

  const getOfAny = defineRoute({
    operationId: 'getDelivery',
    method: 'get',
    path: '/deliveries/:id',
    summary: 'Get a delivery of any webhook',
    description:
      'Equivalent to `GET /webhooks/{id}/deliveries/{deliveryId}`, and also available after the webhook was ' +
      'deleted.',
    tag,
    scope: 'webhooks:read',
    response: DeliveryDetail,
    errors: ['not_found'],
    handler: async ({ params, meta }) =>
      shownTo(meta, await getDelivery(database, meta.tenant, { deliveryId: params.id })),
  })

  return [list, listAll, failures, listOfEvent, get, getOfAny]
}

async function maySeeEvent(
  rules: SubscriptionRules,
  { principal, tenant }: RequestMeta,
  { eventType }: DeliveryDetail,
): Promise<boolean> {
  if (missingRights(principal.permissions, { reads: [eventPermission(eventType)], uses: [] }).length > 0)
    return false
  return rules.permits(principal, tenant, { events: [eventType] })
}

const withoutEvent = ({ request, ...delivery }: DeliveryDetail): DeliveryDetail => ({
  ...delivery,
  request: request && { ...request, body: redactedValue },
})

function checkCursor(after: string | undefined): void {
  if (after === undefined || deliveryId.safeParse(after).success) return
  throw new ApiError('invalid_cursor', 'The cursor is not the id of a delivery.', {
    details: [
      { in: 'query', path: '/after', code: 'invalid_cursor', message: 'Start again without a cursor.' },
    ],
  })
}
