import { newId } from '@opsplane/contracts'

const acceptable = /^[A-Za-z0-9._-]{8,128}$/

/** The client's X-Request-ID if it is 8 to 128 of `A-Za-z0-9._-`, otherwise a new id. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && acceptable.test(header) ? header : newId('request')
}
