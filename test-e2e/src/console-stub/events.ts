import { buildId, eventAgeSeconds, longText, pickAt, type Schemas, secondsAgo } from './states.js'

/** Each incident is created, then updated, then resolved; rows are newest first. */
const happened = [
  ['incident.created', 'incident', 'INC-', 2_048],
  ['incident.updated', 'incident', 'INC-', 2_047],
  ['incident.resolved', 'incident', 'INC-', 2_046],
  ['change.approved', 'change', 'CHG-', 311],
  ['record.created', 'record', undefined, 193],
  ['request.submitted', 'request', 'REQ-', 95],
  ['workflow.published', 'workflow', undefined, 7],
] as const
const titles = {
  incident: ['Printer offline on the third floor', 'Checkout returns 502 for EU', 'Search is slow'],
  change: ['Roll back payments to 4.18.2'],
  record: ['Laptop LT-0193'],
  request: ['Laptop for Grace Hopper'],
  workflow: ['Escalate to vendor'],
} as const
export const eventTypes = happened.map(([type]) => type)
const prefixes = { incident: 'inc', change: 'chg', record: 'rec', request: 'req', workflow: 'wfl' } as const
const actors: Schemas['Actor'][] = [
  { id: buildId('usr', 1), name: 'Ada Lovelace', type: 'user' },
  { id: buildId('tok', 1), name: 'deploy pipeline', type: 'api_token' },
  { id: buildId('wfl', 1), name: 'Escalate to vendor', type: 'workflow' },
]

/** Looks like a hash and differs for each event. */
const hashOf = (index: number) =>
  ((index + 1) * 2_654_435_761).toString(16).padStart(16, '9f86').repeat(4).slice(0, 64)

export function eventAt(index: number, isLong = false): Schemas['AuditEvent'] {
  const [type, resourceType, prefix, latest] = pickAt(happened, index)
  const ordinal = latest - Math.floor(index / happened.length)
  const number = prefix && `${prefix}${ordinal}`
  const displayName = isLong ? longText : pickAt<string>(titles[resourceType], Math.max(ordinal, 0))
  const id = buildId(prefixes[resourceType], Math.max(ordinal, 0))
  const before = {
    id,
    title: displayName,
    severity: 'medium',
    status: 'open',
    team: 'web',
  }
  const after = {
    ...{ ...before, severity: 'critical', status: 'in_progress', team: 'payments' },
    ...{ assignee: isLong ? longText : 'Ada Lovelace', labels: ['eu', 'checkout'] },
  }
  const isCreated = /(created|submitted)$/.test(type)
  return {
    ...{ id: buildId('evt', index), type: isLong ? `${type}.${'and_more_'.repeat(8)}` : type, version: 2 },
    ...{
      environment: 'production',
      workspaceId: buildId('wsp', 0),
      createdAt: secondsAgo(eventAgeSeconds(index)),
    },
    actor: isLong ? { ...pickAt(actors, 0), name: longText } : pickAt(actors, index),
    resource: { id, type: resourceType, displayName, ...(number && { number }) },
    ...{
      requestId: `req-7f3c21d09a${index % 1_000}`,
      causationId: index % 4 === 1 ? buildId('evt', index + 6) : null,
    },
    ...{ seq: 480_211 - index, hash: hashOf(index) },
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
