import { hmacSha256 } from '@opsplane/runtime'

/** Position of an event. Its id is made only of this, the stream and the subject. */
interface TopicEventPosition {
  /** Unix milliseconds. */
  createdAtMs: number
  /** Sequence in the stream. */
  sequence: number
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const idPattern = /^evt_([0-7][0-9A-HJKMNP-TV-Z]{25})$/
const timeBytes = 6
const tagBytes = 4
const sequenceBytes = 6
const idBytes = timeBytes + tagBytes + sequenceBytes

/**
 * The id of a topic event: `evt_` and a ULID of its time, a check value and its sequence (ADR 012). The sequence
 * is masked, so that an id does not reveal how much other tenants publish. `stream` is the stream's identity.
 */
export function topicEventId(stream: string, subject: string, place: TopicEventPosition): string {
  const bytes = Buffer.alloc(idBytes)
  bytes.writeUIntBE(place.createdAtMs, 0, timeBytes)
  tagOf(stream, subject, place).copy(bytes, timeBytes)
  bytes.writeUIntBE(place.sequence, timeBytes + tagBytes, sequenceBytes)
  mask(stream, subject, bytes)
  return `evt_${toBase32(bytes)}`
}

/** The position of the event with this id; `undefined` if it is not an id of this stream and subject. */
export function parseTopicEventId(
  stream: string,
  subject: string,
  id: string,
): TopicEventPosition | undefined {
  const digits = idPattern.exec(id)?.[1]
  if (digits === undefined) return undefined
  const bytes = fromBase32(digits)
  mask(stream, subject, bytes)
  const place = {
    createdAtMs: bytes.readUIntBE(0, timeBytes),
    sequence: bytes.readUIntBE(timeBytes + tagBytes, sequenceBytes),
  }
  const genuine = tagOf(stream, subject, place).equals(bytes.subarray(timeBytes, timeBytes + tagBytes))
  return genuine ? place : undefined
}

function tagOf(stream: string, subject: string, { createdAtMs, sequence }: TopicEventPosition): Buffer {
  return hmacSha256(stream, `tag\0${subject}\0${createdAtMs}\0${sequence}`).subarray(0, tagBytes)
}

/** Masks or unmasks the sequence, with a mask derived from the bytes before it. */
function mask(stream: string, subject: string, bytes: Buffer): void {
  const before = bytes.toString('hex', 0, timeBytes + tagBytes)
  const hidden = hmacSha256(stream, `mask\0${subject}\0${before}`)
  for (let index = timeBytes + tagBytes, at = 0; index < idBytes; index++, at++)
    bytes.writeUInt8(bytes.readUInt8(index) ^ hidden.readUInt8(at), index)
}

function toBase32(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  for (let digit = 0; digit < 26; digit++) {
    text = `${alphabet.charAt(Number(rest & 31n))}${text}`
    rest >>= 5n
  }
  return text
}

function fromBase32(text: string): Buffer {
  let value = 0n
  for (const digit of text) value = (value << 5n) | BigInt(alphabet.indexOf(digit))
  return Buffer.from(value.toString(16).padStart(idBytes * 2, '0'), 'hex')
}
