import { createHash } from 'node:crypto'
import { idPrefixes } from '@opsplane/contracts'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** As many as the random part of an id has, at five bits a digit. */
const hashBytes = 10

/**
 * The id of the delivery of an event to a webhook: the time of the event's id, and a hash of both. The same event
 * can so not be delivered to the same webhook twice, whichever partition of the table is asked. A replay has an id
 * of its own.
 */
export function deriveDeliveryId(eventId: string, webhookId: string): string {
  const hash = createHash('sha256').update(`${eventId} ${webhookId}`).digest().subarray(0, hashBytes)
  return `${idPrefixes.delivery}${eventId.slice(idPrefixes.event.length, -16)}${base32(hash)}`
}

/** Five bits a digit; the length is a multiple of five bytes. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => digits.charAt(Number.parseInt(five, 2)))
}
