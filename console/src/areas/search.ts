import type { DeliveryStatus } from '../api/api.js'

/** Query parameters of an area, which are the filters of its list; unknown parameters and values are dropped. */
type QueryParameters = Readonly<Record<string, unknown>>

export const deliveryStatuses = ['failed', 'retrying', 'pending', 'held', 'succeeded'] as const

export interface DeliverySearch {
  status?: DeliveryStatus
  webhook?: string
  type?: string
}

export function deliverySearch(params: QueryParameters): DeliverySearch {
  const status = deliveryStatuses.find((each) => each === params.status)
  return { ...(status && { status }), ...texts(params, ['webhook', 'type']) }
}

export interface EventSearch {
  type?: string
  resource?: string
  request?: string
  actor?: string
  tab?: string
}

export const eventSearch = (params: QueryParameters): EventSearch =>
  texts(params, ['type', 'resource', 'request', 'actor', 'tab'])

export interface AuditSearch {
  type?: string
  resource?: string
  kind?: string
  actor?: string
  address?: string
  from?: string
  to?: string
}

export const auditSearch = (params: QueryParameters): AuditSearch =>
  texts(params, ['type', 'resource', 'kind', 'actor', 'address', 'from', 'to'])

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

export const topicSearch = (params: QueryParameters): { name?: string } => texts(params, ['name'])

export const catalogueSearch = (params: QueryParameters): { type?: string } => texts(params, ['type'])

export interface WebhookSearch {
  status?: 'active' | 'paused'
  tab?: string
}

export const webhookSearch = (params: QueryParameters): WebhookSearch => ({
  ...((params.status === 'active' || params.status === 'paused') && { status: params.status }),
  ...texts(params, ['tab']),
})

function texts<Name extends string>(
  params: QueryParameters,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const present = names.flatMap((name) => {
    const value = params[name]
    // The router parses text that looks like a number as a number.
    const text = typeof value === 'number' ? String(value) : value
    return typeof text === 'string' && text !== '' ? [[name, text] as const] : []
  })
  return Object.fromEntries(present) as Partial<Record<Name, string>>
}
