import type { Place } from '../place/place.js'
import { type AuditVerification, createApi, type EventDescription, type TopicEvent } from './api.js'
import { type EventFilters, type ListPage, pageSize } from './queries.js'

/** Progress and result of a check of the audit chain. */
export interface ChainCheck {
  checked: number
  isDone: boolean
  last: AuditVerification
}

/** Checks the whole chain part by part, and yields the progress after each part. */
export async function* checkChain(place: Place, signal: AbortSignal): AsyncGenerator<ChainCheck> {
  let after: string | null = null
  let checked = 0
  for (;;) {
    const query: { after?: string } = after === null ? {} : { after }
    const last: AuditVerification = (
      await createApi(place).get('/audit/verify', { params: { query }, signal })
    ).data
    checked += last.checked
    after = last.nextCursor
    const isDone = !last.valid || last.complete || after === null
    yield { checked, isDone, last }
    if (isDone) return
  }
}

/** All matching events, one line of JSON each. */
export async function exportAudit(place: Place, filters: EventFilters): Promise<Blob> {
  const query = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
  const lines = await createApi(place).get('/audit/export', { params: { query }, parseAs: 'blob' })
  return lines as unknown as Blob
}

export async function readEventTypes(
  place: Place,
  type: string | undefined,
  after: string | undefined,
  signal: AbortSignal,
): Promise<ListPage<EventDescription>> {
  const query = {
    limit: pageSize,
    ...(type !== undefined && { type }),
    ...(after !== undefined && { after }),
  }
  const { data, pagination } = await createApi(place).get('/events/catalog', { params: { query }, signal })
  return { items: data, next: pagination.hasMore ? (pagination.nextCursor ?? undefined) : undefined }
}

/** Maximum long-poll timeout that the API accepts, in milliseconds. */
const waitMs = 20_000

/** Yields the events of a topic from the oldest retained one, then new events, page by page as they arrive. */
export async function* followTopic(
  place: Place,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<readonly TopicEvent[]> {
  let after: string | null = null
  for (let timeout = 0; ; ) {
    const query: { limit: number; timeout: number; after?: string } = {
      ...{ limit: 200, timeout },
      ...(after !== null && { after }),
    }
    const { data, pagination } = await createApi(place).get('/events/topics/{name}/events', {
      params: { path: { name }, query },
      signal,
    })
    after = pagination.nextCursor
    yield data
    timeout = pagination.hasMore ? 0 : waitMs
  }
}
