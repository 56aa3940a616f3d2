import { DeliveryStatus, idSchema, MomentOrDay } from '@opsplane/contracts'
import { z } from 'zod'

/** A parameter that may be repeated or contain several comma-separated values. */
const severalOf = <Value extends z.ZodType>(value: Value) =>
  z.preprocess(
    (input) => (typeof input === 'string' || Array.isArray(input) ? String(input).split(',') : input),
    z.array(value).min(1).max(20),
  )

/** Filters of delivery lists, combined by AND. */
export const deliveryFilters = z.object({
  status: severalOf(DeliveryStatus)
    .optional()
    .meta({
      description: 'One or several statuses, repeated or separated by commas.',
      example: ['failed', 'retrying'],
    }),
  eventType: severalOf(z.string().min(1).max(200))
    .optional()
    .meta({
      description: 'One or several event types, repeated or separated by commas.',
      example: ['incident.created'],
    }),
  createdAfter: MomentOrDay.optional().meta({
    description: 'Only deliveries of events, or replays, created after this instant.',
  }),
  createdBefore: MomentOrDay.optional().meta({
    description: 'Only deliveries of events, or replays, created before this instant.',
  }),
})
export type DeliveryFilters = z.output<typeof deliveryFilters>

/** The filters of the list over all webhooks. */
export const filtersOverWebhooks = deliveryFilters.extend({
  webhookId: idSchema('webhook').optional().meta({ description: 'Only deliveries of this webhook.' }),
})
