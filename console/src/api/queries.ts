import { queryOptions } from '@tanstack/react-query'
import type { Place } from '../place/place.js'
import {
  type AuditEvent,
  callOrigin,
  createApi,
  type Delivery,
  type DeliveryStatus,
  type Execution,
} from './api.js'

export const pageSize = 50

/** A page of a list that is loaded incrementally. */
export interface ListPage<Item> {
  items: Item[]
  next: unknown
}

const keyOf = ({ workspace, environment }: Place) => [workspace, environment] as const

export const meQuery = (place: Place) =>
  queryOptions({
    queryKey: [...keyOf(place), 'me'],
    queryFn: async ({ signal }) => (await createApi(place).get('/auth/me', { signal })).data,
    staleTime: 60_000,
  })

export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: async ({ signal }) =>
    (await createApi().get('/workspaces', { params: { query: { limit: 200 } }, signal })).data,
  staleTime: 60_000,
})

export const webhooksQuery = (place: Place) =>
  queryOptions({
    queryKey: [...keyOf(place), 'webhooks'],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/webhooks', { params: { query: { limit: 200 } }, signal })).data,
    staleTime: 10_000,
  })

export const webhookQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'webhook', id],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/webhooks/{id}', { params: { path: { id } }, signal })).data,
  })

/** The latest deliveries of a webhook, which show its health. */
export const latestDeliveriesQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'deliveries', 'latest', id],
    queryFn: async ({ signal }) => (await readDeliveries(place, { webhookId: id }, undefined, signal)).items,
    staleTime: 5_000,
  })

export const deliveryQuery = (place: Place, webhookId: string, deliveryId: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'delivery', deliveryId, webhookId],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/deliveries/{id}', { params: { path: { id: deliveryId } }, signal })).data,
  })

export const eventQuery = (place: Place, eventId: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'event', eventId],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/audit/{eventId}', { params: { path: { eventId } }, signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const eventDeliveriesQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'event-deliveries', id],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/events/{id}/deliveries', { params: { path: { id } }, signal })).data,
  })

/** Executions of business rules that an event triggered. */
export const eventExecutionsQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'executions', 'event', id],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ triggerType: 'webhook', triggerId: id, limit: String(pageSize) })
      const path = `/api/service-sdk/executions?${query}`
      return (await callOrigin<{ data: Execution[] }>(place, path, { signal })).data
    },
  })

/** Workflow runs that an event started. */
export const eventRunsQuery = (place: Place, id: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'runs', 'event', id],
    queryFn: async ({ signal }) => {
      const query = { triggerType: 'event', triggerId: id, limit: pageSize }
      return (await createApi(place).get('/runs', { params: { query }, signal })).data
    },
  })

/** Maximum length of the chain of causes that is followed. */
const maxCauses = 10

/** The chain of causes of an event, nearest first. */
export const causesQuery = (place: Place, causationId: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'causes', causationId],
    queryFn: async ({ signal, client }) => {
      const causes: AuditEvent[] = []
      let id: string | null = causationId
      while (id !== null && causes.length < maxCauses) {
        signal.throwIfAborted()
        // The chain ends at an event older than the retention period.
        const cause: AuditEvent | undefined = await client
          .fetchQuery(eventQuery(place, id))
          .catch(() => undefined)
        if (cause === undefined) break
        causes.push(cause)
        id = cause.causationId
      }
      return causes
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Other events caused by the same request, oldest first. */
export const relatedEventsQuery = (place: Place, requestId: string) =>
  queryOptions({
    queryKey: [...keyOf(place), 'related', requestId],
    queryFn: async ({ signal }) => {
      const query = { requestId, sort: 'createdAt' as const, limit: pageSize }
      return (await createApi(place).get('/audit', { params: { query }, signal })).data
    },
  })

export interface EventFilters {
  type?: string | undefined
  resourceId?: string | undefined
  requestId?: string | undefined
  resourceType?: string | undefined
  actor?: string | undefined
  address?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

export async function readEvents(
  place: Place,
  filters: EventFilters,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<ListPage<AuditEvent>> {
  const query = { ...withoutUndefined(filters), limit: pageSize, ...(after !== undefined && { after }) }
  const { data, pagination } = await createApi(place).get('/audit', {
    params: { query },
    ...(signal && { signal }),
  })
  return { items: data, next: pagination.hasMore ? (pagination.nextCursor ?? undefined) : undefined }
}

export interface DeliveryFilters {
  webhookId?: string | undefined
  status?: DeliveryStatus | undefined
  eventType?: string | undefined
}

export async function readDeliveries(
  place: Place,
  { webhookId, status, eventType }: DeliveryFilters,
  after: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<Delivery>> {
  const query = {
    limit: pageSize,
    ...(webhookId !== undefined && { webhookId }),
    ...(status && { status: [status] }),
    ...(eventType !== undefined && { eventType: [eventType] }),
    ...(after !== undefined && { after }),
  }
  const { data, pagination } = await createApi(place).get('/deliveries', { params: { query }, signal })
  return { items: data, next: pagination.hasMore ? (pagination.nextCursor ?? undefined) : undefined }
}

/** The filters without undefined values. */
type Defined<Filters> = { [Name in keyof Filters]: Exclude<Filters[Name], undefined> }
const withoutUndefined = <Filters extends object>(filters: Filters) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as Defined<Filters>
