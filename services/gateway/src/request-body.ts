import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { ApiError } from '@opsplane/contracts'

/** Bodies up to this size are buffered: this is cheaper than a stream, and a slow client occupies no connection. */
const collectedBytes = 64 * 1024

const tooLarge = (limitBytes: number) =>
  new ApiError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`)

const tooSlow = () =>
  new ApiError('request_timeout', 'The body did not arrive in time.', { headers: { Connection: 'close' } })

export interface BodyRules {
  limitBytes: number
  /** Maximum milliseconds for a body up to 64 KiB, and for each further 64 KiB. */
  timeoutMs: number
  /**
   * Buffers the whole body whatever its size, so that nothing starts before it is complete. Called with the bytes
   * beyond 64 KiB as they arrive; throws to reject the request.
   */
  whole?: ((bytes: number) => void) | undefined
}

/**
 * The body to forward; null if there is none, `undefined` if the client disconnected before it was complete. Throws
 * ApiError `payload_too_large`, and `request_timeout` if it does not arrive in time; a streamed body fails with the
 * same errors.
 */
export async function requestBody(
  request: IncomingMessage,
  { limitBytes, timeoutMs, whole }: BodyRules,
): Promise<Buffer | Readable | null | undefined> {
  const declared = request.headers['content-length']
  const length = declared === undefined ? undefined : Number(declared)
  if (length !== undefined && length > limitBytes) throw tooLarge(limitBytes)
  const empty = length === 0 || (length === undefined && request.headers['transfer-encoding'] === undefined)
  if (empty || request.method === 'GET' || request.method === 'HEAD') return null
  if (whole || (length !== undefined && length <= collectedBytes))
    return collect(request, { limitBytes, timeoutMs, whole })
  return request.pipe(bounded(request, limitBytes, timeoutMs))
}

function collect(
  request: IncomingMessage,
  { limitBytes, timeoutMs, whole }: BodyRules,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = []
    let size = 0
    const refuse = (error: unknown) => {
      chunks = []
      size = Number.POSITIVE_INFINITY
      reject(error)
    }
    const timer = setTimeout(() => refuse(tooSlow()), timeoutMs)
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) return refuse(tooLarge(limitBytes))
      try {
        if (size > collectedBytes) whole?.(chunk.length)
        chunks.push(chunk)
      } catch (error) {
        refuse(error)
      }
    })
    request.once('end', () => {
      clearTimeout(timer)
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
    })
    request.once('close', () => {
      clearTimeout(timer)
      resolve(undefined)
    })
  })
}

function bounded(request: IncomingMessage, limitBytes: number, timeoutMs: number): Transform {
  let seen = 0
  let requiredBytes = collectedBytes
  // A client delayed by the service is not slow.
  const timer = setInterval(() => {
    if (seen < requiredBytes && !request.isPaused()) body.destroy(tooSlow())
    requiredBytes = seen + collectedBytes
  }, timeoutMs)
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      if (seen > limitBytes) done(tooLarge(limitBytes))
      else done(null, chunk)
    },
  })
  // The sender of the body reports its errors; errors after the end of the request are ignored.
  body.on('error', () => undefined)
  body.once('close', () => clearInterval(timer))
  request.once('close', () => clearInterval(timer))
  return body
}

/** After an early response, the rest of the body is still read, up to this many bytes and milliseconds. */
const discardedBytes = 32 * 1024 * 1024
const discardedMs = 10_000

/**
 * Keeps reading after an early response. Closing the connection immediately would reset it, and a client that is still
 * sending might never receive the response. A client that keeps sending for too long is disconnected.
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
