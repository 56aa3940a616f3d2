import { createHash } from 'node:crypto'
import { idPrefixes } from '@opsplane/contracts'

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const timeLength = 10
const hashBytes = 10

/**
 * The id of the delivery of an event to a webhook: the time of the event's id, and a hash of both. The same event
 * can so not be delivered to the same webhook twice, whichever partition of the table is asked. A replay has an id
 * of its own.
 */
export function deliveryIdOf(eventId: string, webhookId: string): string {
  const hash = createHash('sha256').update(`${eventId} ${webhookId}`).digest().subarray(0, hashBytes)
  return `${idPrefixes.delivery}_${timeOf(eventId)}${base32(hash)}`
}

/** The least id of a delivery of this instant (Unix ms) or later: ids begin with their time. */
export function leastDeliveryId(atMs: number): string {
  return `${idPrefixes.delivery}_${base32Time(atMs)}`
}

/** The least id of an event of this instant (Unix ms) or later. */
export function leastEventId(atMs: number): string {
  return `${idPrefixes.event}_${base32Time(atMs)}`
}

/** Unix milliseconds an id was made at. */
export function idTimeMs(id: string): number {
  return [...timeOf(id)].reduce((time, digit) => time * 32 + digits.indexOf(digit), 0)
}

function timeOf(id: string): string {
  const start = id.indexOf('_') + 1
  return id.slice(start, start + timeLength)
}

function base32Time(atMs: number): string {
  const time = [...Math.max(0, Math.floor(atMs)).toString(32)].map(
    (digit) => digits[Number.parseInt(digit, 32)],
  )
  return time.join('').padStart(timeLength, '0')
}

/** Five bits a digit; the length is a multiple of five bytes. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return bits.replaceAll(/.{5}/g, (five) => digits.charAt(Number.parseInt(five, 2)))
}
