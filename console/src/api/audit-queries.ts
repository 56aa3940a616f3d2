import type { Place } from '../place/place.js'
import { type AuditVerification, createApi, type EventDescription, type TopicEvent } from './api.js'
import { type EventFilters, type ListPage, pageSize } from './queries.js'

/** How much of the chain was checked, and what was found. */
export interface ChainCheck {
  checked: number
  isDone: boolean
  last: AuditVerification
}

/** Checks the whole chain, a part of it at a time. */
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

/** All that matches, a line of JSON for each event. */
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

/** The longest that the API lets one wait. */
const waitMs = 20_000

/** The events of a topic from the oldest that is kept, and then those that come, each part when it is there. */
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
