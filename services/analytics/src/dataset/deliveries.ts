import { DeliveryChanges, deliveryChangesPath } from '@opsplane/contracts'
import { defineDataset, defineFeed, duration, flag, instant, number, percentiles, text } from './dataset.js'

const isFinished = "status in ('succeeded', 'failed')"
const hasFailed = "status = 'failed'"

export const deliveries = defineDataset({
  name: 'deliveries',
  label: 'Deliveries',
  description: 'One fact for each delivery of an event to a webhook that has been attempted, as it stands.',
  permission: 'webhooks:read',
  idPrefix: 'del_',
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
    deliveries: { label: 'Deliveries', description: 'How many there are.', kind: 'count' },
    succeeded: {
      label: 'Succeeded',
      description: 'Those that were accepted.',
      kind: 'count',
      where: "status = 'succeeded'",
    },
    failed: { label: 'Failed', description: 'Those given up.', kind: 'count', where: hasFailed },
    under_way: {
      ...{ label: 'In progress', description: 'Those that are still attempted.' },
      ...{ kind: 'count', where: `not ${isFinished}` },
    },
    success: {
      ...{ label: 'Success', description: 'Of the finished ones, those accepted.' },
      ...{ kind: 'share', format: 'percent', where: "status = 'succeeded'", of: isFinished },
    },
    retried: {
      ...{ label: 'Retried', description: 'Those that took more than one attempt.' },
      ...{ kind: 'share', format: 'percent', where: 'attempts > 1' },
    },
    attempts: { label: 'Attempts', description: 'Requests made.', kind: 'sum', of: 'attempts' },
    ...percentiles('durationMs', 'Duration'),
    ...percentiles('latencyMs', 'Time to deliver'),
    webhooks: { label: 'Webhooks', description: 'Different ones.', kind: 'distinct', of: 'webhookId' },
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
