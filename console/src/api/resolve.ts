import type { Place } from '../place/place.js'
import { apiPath, callOrigin } from './api.js'

/** What an id or a number names. */
export interface Resolved {
  type: string
  id: string
  title: string | null
  /** Where it is read, below the API, or from the origin on where it begins with `/api/`. */
  href: string | null
  eventsHref: string | null
}

/** Looks like what the platform calls things by: an id with its kind in front, or a number such as `INC-12`. */
export const isReference = (text: string): boolean =>
  /^([a-z]{2,6}_[0-9A-HJKMNP-TV-Z]{26}|[A-Z]{2,4}-\d{1,12})$/.test(text)

/** By the rights of the person; throws `not_found` for what is unknown as for what they may not see. */
export async function resolveReference(
  place: Place,
  reference: string,
  signal: AbortSignal,
): Promise<Resolved> {
  const path = `${apiPath}/resolve/${encodeURIComponent(reference)}`
  return (await callOrigin<{ data: Resolved }>(place, path, { signal })).data
}

/** What the API answers for it, from the origin on. */
export const addressOf = (href: string): string => (href.startsWith('/api/') ? href : `${apiPath}${href}`)
