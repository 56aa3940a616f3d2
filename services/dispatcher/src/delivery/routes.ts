import { ApiError, Delivery, DeliveryDetail, DeliveryStatus, idSchema } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { WebhookAggregate } from '../webhook/webhook-store.js'
import { getDelivery, listDeliveries } from './queries.js'

const tag = 'Webhooks'
const deliveryId = idSchema('delivery')

export function deliveryRoutes({
  database,
  aggregate,
}: {
  database: Database
  aggregate: WebhookAggregate
}): Route[] {
  const list = defineList({
    operationId: 'listWebhookDeliveries',
    path: '/webhooks/:id/deliveries',
    summary: 'List the deliveries of a webhook, newest first',
    description: '`after` is the id of a delivery: older ones follow.',
    tag,
    scope: 'webhooks:read',
    query: z.object({
      status: DeliveryStatus.optional(),
      eventType: z.string().min(1).max(200).optional(),
    }),
    response: Delivery,
    handler: async ({ params, query, meta }) => {
      await aggregate.get(params.id, meta.tenant)
      const { status, eventType, limit, after } = query
      if (after !== undefined && !deliveryId.safeParse(after).success) throw invalidCursor()
      return listDeliveries(database, {
        tenant: meta.tenant,
        webhookId: params.id,
        status,
        eventType,
        limit,
        after,
      })
    },
  })

  const get = defineRoute({
    operationId: 'getWebhookDelivery',
    method: 'get',
    path: '/webhooks/:id/deliveries/:deliveryId',
    summary: 'Get a delivery with its requests and responses',
    description: 'Secrets in headers, and where the endpoint echoes them, are shown as `***`.',
    tag,
    scope: 'webhooks:read',
    response: DeliveryDetail,
    handler: async ({ params, meta }) => {
      await aggregate.get(params.id, meta.tenant)
      return getDelivery(database, meta.tenant, params.id, params.deliveryId)
    },
  })

  return [list, get]
}

function invalidCursor(): ApiError {
  return new ApiError('invalid_cursor', 'The cursor is not the id of a delivery.', {
    details: [
      { in: 'query', path: '/after', code: 'invalid_cursor', message: 'Start again without a cursor.' },
    ],
  })
}
