import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'

const decoders: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

interface ReadBody {
  body: Buffer
  /** There was more, or the body ended prematurely. */
  truncated: boolean
  /** The body does not decompress and is cut at the first invalid byte. */
  isBroken?: true
}

/**
 * Reads as much of a response body as possible: a network error, including a timeout, truncates
 * it, and so does a body that does not decompress.
 */
export async function readPartialBody(
  source: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<ReadBody> {
  const kept: Buffer[] = []
  try {
    return await readBody(source, contentEncoding, maxBytes, kept)
  } catch {
    return { body: Buffer.concat(kept), truncated: true }
  }
}

/**
 * Reads a response body, decompressed, up to `maxBytes`; the rest is not read and `truncated` is set. A body that does
 * not decompress is cut at the first invalid byte and is `isBroken`. Throws network errors.
 */
export async function readBody(
  source: Readable,
  contentEncoding: string | undefined,
  maxBytes: number,
  kept: Buffer[] = [],
): Promise<ReadBody> {
  const decoder = decoders[contentEncoding?.trim().toLowerCase() ?? '']
  if (!decoder) return readCapped(source, maxBytes, kept)

  const decoded = decoder()
  let networkError: unknown
  source.on('error', (error) => {
    networkError = error
    decoded.destroy(error)
  })
  source.pipe(decoded)
  try {
    return await readCapped(decoded, maxBytes, kept)
  } catch {
    if (networkError) throw networkError
    return { body: Buffer.concat(kept), truncated: true, isBroken: true }
  } finally {
    source.destroy()
    decoded.destroy()
  }
}

async function readCapped(stream: Readable, maxBytes: number, kept: Buffer[]): Promise<ReadBody> {
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (size + chunk.length > maxBytes) {
      kept.push(chunk.subarray(0, maxBytes - size))
      return { body: Buffer.concat(kept), truncated: true }
    }
    kept.push(chunk)
    size += chunk.length
  }
  return { body: Buffer.concat(kept), truncated: false }
}
