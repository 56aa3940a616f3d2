import { Delivery } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { ChangedSignals } from '@opsplane/nats'
import type { DeliveryDays } from '../retention/delivery-days.js'
import { type ResendContext, resendDelivery } from './resend.js'
import type { ResendAction } from './resend-rows.js'

export interface ResendRoutesContext extends ResendContext {
  days: DeliveryDays
  nowMs(): number
  /** Called when a delivery was created or is due again. */
  changed: ChangedSignals['changed']
  /** Called when a delivery is due now. */
  wake(): void
  /** Called when events were committed. */
  announce(): void
}

const common = {
  method: 'post',
  tag: 'Webhooks',
  scope: 'webhooks:write',
  response: Delivery,
  status: 202,
  errors: ['not_found', 'invalid_state_transition'],
} as const

export function resendRoutes(context: ResendRoutesContext): Route[] {
  const { days, nowMs, changed, wake, announce } = context
  const resend = async (
    action: ResendAction,
    params: { id: string; deliveryId: string },
    meta: RequestMeta,
  ): Promise<Delivery> => {
    const { id: webhookId, deliveryId } = params
    const request = { action, webhookId, deliveryId, days, nowMs: nowMs(), meta }
    const delivery = await resendDelivery(context, request)
    changed(meta.tenant, delivery.id)
    if (delivery.replayOf !== null) changed(meta.tenant, delivery.replayOf)
    wake()
    announce()
    return delivery
  }

  const retry = defineRoute({
    ...common,
    operationId: 'retryWebhookDelivery',
    path: '/webhooks/:id/deliveries/:deliveryId/retry',
    summary: 'Retry a failed delivery',
    description:
      'Sends the same delivery again, with the number of attempts that its webhook currently allows. The delivery ' +
      'is `held` while the webhook is paused. A delivery that has not failed returns `invalid_state_transition`.',
    handler: ({ params, meta }) => resend('retry', params, meta),
  })

  const replay = defineRoute({
    ...common,
    operationId: 'replayWebhookDelivery',
    path: '/webhooks/:id/deliveries/:deliveryId/replay',
    summary: 'Replay a delivery',
    description:
      'Creates a new delivery of the same event, with the same body and event id; its `replayOf` refers to the ' +
      'original delivery. The new delivery is `held` while the webhook is paused. An unfinished delivery returns ' +
      '`invalid_state_transition`.',
    handler: ({ params, meta }) => resend('replay', params, meta),
  })

  return [retry, replay]
}
