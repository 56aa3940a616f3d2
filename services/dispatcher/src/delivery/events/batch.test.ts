import { expect, it } from '@jest/globals'
import { type PlatformEvent, tenantKey } from '@opsplane/contracts'
import type { Subscriber, TenantWebhooks } from '../match/webhook-index.js'
import { type ArrivedEvent, readBatch } from './batch.js'

const tenant = { workspaceId: 'ws_1', environment: 'production' } as const
const webhooks: TenantWebhooks = {
  ...{ tenant, revision: 1, count: 1, checkedAt: 0 },
  subscribers: (type) => (type === 'incident.created' ? [{} as Subscriber] : []),
}
const read: string[] = []
const arrived = (id: string, type: string, position: number): ArrivedEvent => ({
  unread: {
    ...{ ...tenant, type },
    read() {
      read.push(id)
      return { id, type, ...tenant } as PlatformEvent
    },
  },
  origin: { source: 'itsm', position },
  redelivered: false,
})

it('reads subscribed events only, keeps a repeated event at its first place, and returns all positions', () => {
  const { incoming, origins } = readBatch(
    [
      arrived('evt_0', 'incident.closed', 7),
      arrived('evt_1', 'incident.created', 8),
      arrived('evt_2', 'incident.created', 9),
      arrived('evt_1', 'incident.created', 8),
    ],
    new Map([[tenantKey(tenant), webhooks]]),
  )
  expect(incoming.map(({ event, place }) => [event.id, place])).toEqual([
    ['evt_1', 1],
    ['evt_2', 2],
  ])
  expect(read).not.toContain('evt_0')
  expect(origins.map(({ position }) => position)).toEqual([7, 8, 9, 8])
})

it('matches an event with the webhooks of its own workspace', () => {
  const other = { ...webhooks, tenant: { ...tenant, workspaceId: 'ws_2' } }
  const { webhooksOf } = readBatch(
    [],
    new Map([webhooks, other].map((each) => [tenantKey(each.tenant), each])),
  )
  expect(webhooksOf(tenant)).toBe(webhooks)
  expect(webhooksOf(other.tenant)).toBe(other)
})
