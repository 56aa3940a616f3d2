/**
 * A link is one connection between the gateway and a replica of a service that carries many feeds: a request with
 * `Upgrade`, then frames in both directions. A feed is requested by `open` and answered by `head`, `data` and `end`. A
 * server sends only as many bytes of a feed as `credit` frames allow, so a slow reader does not delay other feeds.
 */
export const link = {
  protocol: 'opsplane-link',
  path: '/internal/link',
  /** Maximum unacknowledged bytes of a feed. */
  windowBytes: 64 * 1024,
  /** Maximum feeds per link: small enough that a gateway's feeds are spread over all replicas. */
  maxFeeds: 250,
} as const

const kinds = ['open', 'close', 'credit', 'head', 'data', 'end', 'cut', 'refused', 'drain'] as const
/**
 * `open`: the request as JSON. `close`: the reader has stopped. `credit`: the number of bytes consumed. `head`: status
 * and headers as JSON. `cut`: the response ended prematurely. `refused`: the request was not processed, send it to
 * another replica. `drain`: open no more feeds on this link.
 */
export type FrameKind = (typeof kinds)[number]

export interface Frame {
  kind: FrameKind
  feed: number
  payload: Buffer
}

const headBytes = 9
const numberOf = new Map(kinds.map((kind, at) => [kind, at]))

export function encodeFrame(kind: FrameKind, feed: number, payload: string | Uint8Array = ''): Buffer {
  const bytes = Buffer.byteLength(payload)
  const frame = Buffer.allocUnsafe(headBytes + bytes)
  frame.writeUInt32BE(bytes, 0)
  frame.writeUInt32BE(feed, 4)
  frame.writeUInt8(numberOf.get(kind) ?? 0, 8)
  if (typeof payload === 'string') frame.write(payload, headBytes)
  else frame.set(payload, headBytes)
  return frame
}

export function creditPayload(bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(bytes)
  return payload
}

export const decodeCredit = ({ payload }: Frame): number =>
  payload.length === 4 ? payload.readUInt32BE() : 0

/** Splits received bytes into frames. Throws RangeError for invalid bytes or a frame above the maximum size. */
export function frameReader(maxBytes: number, onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let rest: Buffer | undefined
  return (chunk) => {
    const bytes = rest ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    while (bytes.length - at >= headBytes) {
      const length = bytes.readUInt32BE(at)
      const kind = kinds[bytes.readUInt8(at + 8)]
      if (kind === undefined || length > maxBytes) throw new RangeError('what came over a link is no frame')
      const end = at + headBytes + length
      if (end > bytes.length) break
      // Copied, so that a payload kept for a slow reader does not retain the whole chunk.
      const payload = Buffer.from(bytes.subarray(at + headBytes, end))
      onFrame({ kind, feed: bytes.readUInt32BE(at + 4), payload })
      at = end
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined
  }
}
