import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { ApiError } from '@opsplane/contracts'

/** Bodies up to this size are collected: cheaper than a stream, and a slow client holds no connection. */
const collectedBytes = 64 * 1024

const tooLarge = (limitBytes: number) =>
  new ApiError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`)

/**
 * The body to pass on; null when there is none, undefined when the client left before it was complete.
 * Throws ApiError `payload_too_large` at once when Content-Length says so; a body of unknown length
 * is a stream that fails with it.
 */
export async function requestBody(
  request: IncomingMessage,
  limitBytes: number,
): Promise<Buffer | Readable | null | undefined> {
  const declared = request.headers['content-length']
  const length = declared === undefined ? undefined : Number(declared)
  if (length !== undefined && length > limitBytes) throw tooLarge(limitBytes)
  const empty = length === 0 || (length === undefined && request.headers['transfer-encoding'] === undefined)
  if (empty || request.method === 'GET' || request.method === 'HEAD') return null
  if (length !== undefined && length <= collectedBytes) return collect(request)
  return request.pipe(atMost(limitBytes))
}

function collect(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    request.once('close', () => resolve(undefined))
  })
}

function atMost(limitBytes: number): Transform {
  let seen = 0
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > limitBytes) done(tooLarge(limitBytes))
      else done(null, chunk)
    },
  })
  // Whoever sends the body reports its errors; later ones, of a request already over, are nobody's.
  body.on('error', () => undefined)
  return body
}

/** What an early answer is worth: so many bytes and milliseconds of a body nobody wants are still read. */
const discardedBytes = 32 * 1024 * 1024
const discardedMs = 10_000

/**
 * Reads on after an early answer. Closing the connection at once would reset it, and a client that is still
 * sending might never see the answer; a client that goes on for too long is cut off.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  let left = discardedBytes
  const cutOff = () => void request.socket.destroy()
  const timer = setTimeout(cutOff, discardedMs)
  timer.unref()
  request.unpipe()
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) cutOff()
  })
  request.once('close', () => clearTimeout(timer))
  request.resume()
}
