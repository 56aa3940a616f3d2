import { buildId, longText, pickAt, type Schemas, secondsAgo } from './states.js'

const happened = [
  ['incident.created', 'incident', 'INC-2047', 'Checkout returns 502 for EU'],
  ['incident.updated', 'incident', 'INC-2047', 'Checkout returns 502 for EU'],
  ['webhook.paused', 'webhook', undefined, 'Status page'],
  ['change.approved', 'change', 'CHG-311', 'Roll back payments to 4.18.2'],
  ['record.created', 'record', undefined, 'Asset LT-0193'],
  ['user.invited', 'user', undefined, 'Grace Hopper'],
  ['workflow.published', 'workflow', undefined, 'Escalate to vendor'],
] as const
const actors: Schemas['Actor'][] = [
  { id: buildId('usr', 1), name: 'Ada Lovelace', type: 'user' },
  { id: buildId('tok', 1), name: 'deploy pipeline', type: 'api_token' },
  { id: buildId('wfl', 1), name: 'Escalate to vendor', type: 'workflow' },
]

export function eventAt(index: number, isLong = false): Schemas['AuditEvent'] {
  const [type, resourceType, number, title] = pickAt(happened, index)
  const displayName = isLong ? longText : title
  const before = {
    id: buildId('inc', 3),
    title: displayName,
    severity: 'medium',
    status: 'open',
    team: 'web',
  }
  const after = {
    ...{ ...before, severity: 'critical', status: 'in_progress', team: 'payments' },
    ...{ assignee: isLong ? longText : 'Ada Lovelace', labels: ['eu', 'checkout'] },
  }
  const isCreated = type.endsWith('created') || type.endsWith('invited')
  return {
    ...{ id: buildId('evt', index), type: isLong ? `${type}.${'and_more_'.repeat(8)}` : type, version: 2 },
    ...{ environment: 'production', workspaceId: buildId('wsp', 0), createdAt: secondsAgo(20 + index * 31) },
    actor: isLong ? { ...pickAt(actors, 0), name: longText } : pickAt(actors, index),
    resource: { id: buildId('inc', 3), type: resourceType, displayName, ...(number && { number }) },
    ...{
      requestId: `req-7f3c21d09a${index % 1_000}`,
      causationId: index % 4 === 1 ? buildId('evt', 0) : null,
    },
    ...{ seq: 480_211 - index, hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    source: { address: '203.0.113.24', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' },
    data: {
      ...{ before: isCreated ? null : before, after },
      changes: isCreated ? [] : ['severity', 'status', 'team', 'assignee', 'labels'],
    },
  }
}

const catalogue = [
  ['incident.created', 'incidents', 'An incident was reported.'],
  ['incident.resolved', 'incidents', 'An incident was resolved, with how.'],
  ['change.approved', 'changes', 'The last of its approvers has approved a change.'],
  ['webhook.paused', 'webhooks', 'A webhook is sent nothing until it is resumed.'],
] as const

export function eventTypeAt(index: number, isLong = false): Schemas['EventDescription'] {
  const [type, group, description] = pickAt(catalogue, index)
  return {
    ...{ type: index < catalogue.length ? type : `${type}_${index}`, group },
    description: isLong ? longText : description,
    example: {
      id: buildId('evt', index),
      type,
      data: { before: null, after: { title: 'Disk full' }, changes: [] },
    },
    schema: {
      type: 'object',
      properties: { id: { type: 'string' }, type: { const: type }, data: { type: 'object' } },
      required: ['id', 'type', 'data'],
    },
  }
}

export const topicEventAt = (index: number, isLong = false): Schemas['TopicEvent'] => ({
  ...{ id: buildId('tev', index), topic: 'orders', createdAt: secondsAgo(4_000 - index * 20) },
  ...{
    type: pickAt(['order.placed', 'order.paid', 'order.shipped'], index),
    deduplicationKey: `order-${index}`,
  },
  payload: { order: 48_000 + index, amount: 129.9, note: isLong ? longText : 'express' },
})
