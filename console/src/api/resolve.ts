import type { Place } from '../place/place.js'
import { apiPath, createApi, type Resolved } from './api.js'

/** Looks like what the platform calls things by: an id with its kind in front, or a number such as `INC-12`. */
export const isReference = (text: string): boolean =>
  /^([a-z]{2,6}_[0-9A-HJKMNP-TV-Z]{26}|[A-Z]{2,4}-\d{1,12})$/.test(text)

/** What a request may be called, by the one who sent it or by the platform. */
export const isRequestId = (text: string): boolean => /^[A-Za-z0-9._-]{8,128}$/.test(text)

/** By the rights of the person; throws `not_found` for what is unknown as for what they may not see. */
export async function resolveReference(
  place: Place,
  reference: string,
  signal: AbortSignal,
): Promise<Resolved> {
  return (await createApi(place).get('/resolve/{id}', { params: { path: { id: reference } }, signal })).data
}

/** What the API answers for it, from the origin on. */
export const toApiAddress = (href: string): string => (href.startsWith('/api/') ? href : `${apiPath}${href}`)
