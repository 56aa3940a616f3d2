import { DeliveryChanges, deliveryChangesPath } from '@opsplane/contracts'
import {
  defineDataset,
  defineFeed,
  duration,
  flag,
  instant,
  measure,
  number,
  percentiles,
  text,
} from './dataset.js'

const isFinished = "status in ('succeeded', 'failed')"
const hasFailed = "status = 'failed'"

export const deliveries = defineDataset({
  name: 'deliveries',
  label: 'Deliveries',
  description: 'One fact for each attempted delivery of an event to a webhook, in its current state.',
  permission: 'webhooks:read',
  columns: {
    webhookId: text('Webhook'),
    host: text('Host'),
    eventType: text('Event'),
    family: text('Family'),
    status: text('Status'),
    isReplay: flag('Replay'),
    attempts: number('Attempts'),
    responseStatus: { label: 'Response', type: 'integer', dimension: true },
    errorKind: text('Error'),
    lastAttemptAt: instant('Last attempt'),
    durationMs: duration('Duration of the last attempt'),
    latencyMs: duration('Time to deliver'),
  },
  measures: {
    deliveries: measure.count('Deliveries', 'Number of deliveries.'),
    succeeded: measure.count('Succeeded', 'Deliveries accepted by the endpoint.', "status = 'succeeded'"),
    failed: measure.count('Failed', 'Deliveries without further attempts.', hasFailed),
    under_way: measure.count('In progress', 'Deliveries with attempts left.', `not ${isFinished}`),
    success: measure.share(
      'Success',
      'Of the finished ones, those accepted.',
      "status = 'succeeded'",
      isFinished,
    ),
    retried: measure.share('Retried', 'Deliveries with more than one attempt.', 'attempts > 1'),
    attempts: measure.sum('Attempts', 'Requests made.', 'attempts'),
    ...percentiles('durationMs', 'Duration'),
    ...percentiles('latencyMs', 'Time to deliver'),
    webhooks: measure.distinct('Webhooks', 'Number of different webhooks.', 'webhookId'),
  },
  timeFields: ['createdAt', 'lastAttemptAt'],
  rollups: [
    { dimensions: [], sketches: true },
    { dimensions: ['status'] },
    { dimensions: ['host'], sketches: true },
    { dimensions: ['webhookId'] },
    { dimensions: ['eventType'] },
    { dimensions: ['responseStatus'] },
    { dimensions: ['errorKind'] },
  ],
  feed: defineFeed({
    service: 'dispatcher',
    path: deliveryChangesPath,
    page: DeliveryChanges,
    toFact({ id, createdAt, workspaceId: _, environment: __, ...reported }) {
      const { status, lastAttemptAt, durationMs, eventType } = reported
      const isDelivered = status === 'succeeded' && lastAttemptAt !== null
      const endedAt = Date.parse(lastAttemptAt ?? createdAt) + (durationMs ?? 0)
      const latencyMs = isDelivered ? Math.max(0, endedAt - Date.parse(createdAt)) : null
      const family = eventType.split('.', 1)[0] ?? eventType
      return {
        id,
        createdAt,
        happenedAt: lastAttemptAt ?? createdAt,
        values: { ...reported, family, latencyMs },
      }
    },
  }),
})
