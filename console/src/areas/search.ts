import type { DeliveryStatus } from '../api/api.js'

/** Query parameters of an area, which are the filters of its list; unknown parameters and values are dropped. */
type Given = Readonly<Record<string, unknown>>

export const deliveryStatuses = ['failed', 'retrying', 'pending', 'held', 'succeeded'] as const

export interface DeliverySearch {
  status?: DeliveryStatus
  webhook?: string
  type?: string
}

export function deliverySearch(given: Given): DeliverySearch {
  const status = deliveryStatuses.find((each) => each === given.status)
  return { ...(status && { status }), ...texts(given, ['webhook', 'type']) }
}

export interface EventSearch {
  type?: string
  resource?: string
  request?: string
  actor?: string
  tab?: string
}

export const eventSearch = (given: Given): EventSearch =>
  texts(given, ['type', 'resource', 'request', 'actor', 'tab'])

export interface AuditSearch {
  type?: string
  resource?: string
  kind?: string
  actor?: string
  address?: string
  from?: string
  to?: string
}

export const auditSearch = (given: Given): AuditSearch =>
  texts(given, ['type', 'resource', 'kind', 'actor', 'address', 'from', 'to'])

/** Audit log filters that select the entry of an event: only one entry of its resource exists at that instant. */
export const auditEntrySearch = ({
  createdAt,
  resource,
}: {
  createdAt: string
  resource: { id: string }
}): AuditSearch => ({
  resource: resource.id,
  from: createdAt,
  to: new Date(Date.parse(createdAt) + 1).toISOString(),
})

export const topicSearch = (given: Given): { name?: string } => texts(given, ['name'])

export const catalogueSearch = (given: Given): { type?: string } => texts(given, ['type'])

export interface WebhookSearch {
  status?: 'active' | 'paused'
  tab?: string
}

export const webhookSearch = (given: Given): WebhookSearch => ({
  ...((given.status === 'active' || given.status === 'paused') && { status: given.status }),
  ...texts(given, ['tab']),
})

function texts<Name extends string>(given: Given, names: readonly Name[]): Partial<Record<Name, string>> {
  const present = names.flatMap((name) => {
    const value = given[name]
    // The router parses text that looks like a number as a number.
    const text = typeof value === 'number' ? String(value) : value
    return typeof text === 'string' && text !== '' ? [[name, text] as const] : []
  })
  return Object.fromEntries(present) as Partial<Record<Name, string>>
}
