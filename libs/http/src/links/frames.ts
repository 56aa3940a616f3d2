/**
 * A link is one connection between the gateway and a replica of a service that carries many feeds: a request with `Upgrade`, then
 * frames both ways. A feed is asked for by `open` and answered by `head`, `data` and `end`. A server sends so much of a feed as
 * `credit` has made room for, so that no slow reader keeps back those of other feeds.
 */
export const link = {
  protocol: 'opsplane-link',
  path: '/internal/link',
  /** Bytes of a feed that may be on their way. */
  windowBytes: 64 * 1024,
  /** Feeds of one link: few enough that those of a gateway are on all replicas. */
  maxFeeds: 250,
} as const

const kinds = ['open', 'close', 'credit', 'head', 'data', 'end', 'cut', 'refused', 'drain'] as const
/**
 * `open`: JSON of the request. `close`: the reader has stopped. `credit`: so many bytes were taken. `head`: JSON of the answer's
 * begin. `cut`: it ends too early. `refused`: nothing was done, ask elsewhere. `drain`: ask for no more feeds here.
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

/** Finds the frames in what arrives. Throws RangeError for what is none, or is larger than it may be. */
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
      // Copied: what is kept of it for a slow reader must not keep all that came with it.
      const payload = Buffer.from(bytes.subarray(at + headBytes, end))
      onFrame({ kind, feed: bytes.readUInt32BE(at + 4), payload })
      at = end
    }
    rest = at < bytes.length ? bytes.subarray(at) : undefined
  }
}
