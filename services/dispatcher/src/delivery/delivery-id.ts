import { createHash } from 'node:crypto'
import { idPrefixes } from '@opsplane/contracts'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Bytes in the random part of an id, at five bits per character. */
const hashBytes = 10

/**
 * The id of an event's delivery to a webhook: the timestamp of the event's id, and a hash of both ids. This makes a
 * second delivery of an event to a webhook impossible, whichever partition it would be in. Replays have their own ids.
 */
export function deriveDeliveryId(eventId: string, webhookId: string): string {
  const hash = createHash('sha256').update(`${eventId} ${webhookId}`).digest().subarray(0, hashBytes)
  return `${idPrefixes.delivery}${eventId.slice(idPrefixes.event.length, -16)}${base32(hash)}`
}

/** Encodes five bits per character; the length must be a multiple of five bytes. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => digits.charAt(Number.parseInt(five, 2)))
}
