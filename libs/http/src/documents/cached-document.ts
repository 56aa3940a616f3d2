import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { ApiError } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { type Exchange, logRequest } from '../server/exchange.js'
import { securityHeaders } from '../server/security-headers.js'
import { matchesEntityTag } from './entity-tag.js'

/** A document kept in memory, plain and compressed. Each compressed form is created on first use. */
export interface CachedDocument {
  contentType: string
  /** Resolves with the first coding that the client accepts and that makes the document smaller. */
  bytesFor(acceptEncoding: string | undefined): Promise<EncodedDocument>
}

interface EncodedDocument {
  /** `undefined` for the uncompressed document. */
  coding: Coding | undefined
  bytes: Buffer
  /** A strong ETag, different for each coding. */
  etag: string
}

type Coding = 'br' | 'gzip'

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/** Takes about 30 ms per megabyte; maximum quality takes seconds to save another tenth. */
const brotliQuality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** In order of compression ratio, best first. They run outside the event loop. */
const compressors: readonly [Coding, (bytes: Buffer) => Promise<Buffer>][] = [
  ['br', (bytes) => compressBrotli(bytes, brotliQuality)],
  ['gzip', (bytes) => compressGzip(bytes)],
]

/** `made`: codings that have already been created. */
export function cacheDocument(
  contentType: string,
  bytes: Buffer,
  made: Partial<Record<Coding, Buffer>> = {},
): CachedDocument {
  const hash = sha256Hex(bytes).slice(0, 32)
  const plain: EncodedDocument = { coding: undefined, bytes, etag: `"${hash}"` }
  const encodings = new Map<Coding, Promise<EncodedDocument>>()

  const encode = async (coding: Coding, compress: (bytes: Buffer) => Promise<Buffer>) => {
    const shorter = made[coding] ?? (await compress(bytes))
    return shorter.length < bytes.length ? { coding, bytes: shorter, etag: `"${hash}-${coding}"` } : plain
  }

  return {
    contentType,
    async bytesFor(acceptEncoding = '') {
      const [coding, compress] = compressors.find(([name]) => accepts(acceptEncoding, name)) ?? []
      if (coding === undefined || compress === undefined) return plain
      const encoding = encodings.get(coding) ?? encode(coding, compress)
      encodings.set(coding, encoding)
      return encoding
    },
  }
}

/** Whether an Accept-Encoding header allows a coding. */
function accepts(header: string, coding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', quality = ''] = part.trim().split(';')
    return name.trim().toLowerCase() === coding && !/q=0(\.0*)?$/.test(quality.trim())
  })
}

/**
 * Sends a document in the smallest form the client accepts, or 304 if the client already has it.
 * `headers` replace those of every response; an `undefined` one is omitted. Resolves with the number
 * of content bytes. Throws `precondition_failed`.
 */
export async function sendCachedDocument(
  exchange: Exchange,
  document: CachedDocument,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<number> {
  const { req, res, requestId } = exchange
  const { coding, bytes, etag } = await document.bytesFor(req.headers['accept-encoding']?.toString())
  const { 'if-match': wanted, 'if-none-match': seen } = req.headers
  if (wanted !== undefined && !matchesEntityTag(wanted, etag))
    throw new ApiError('precondition_failed', 'The document is another one by now.')
  const status = seen !== undefined && matchesEntityTag(seen, etag) ? 304 : 200
  const content = {
    'Content-Type': document.contentType,
    'Content-Encoding': coding,
    'Content-Length': String(bytes.length),
  }
  const all = {
    ...securityHeaders,
    ...exchange.headers,
    ...headers,
    'X-Request-ID': requestId,
    ETag: etag,
    Vary: 'Accept-Encoding',
    ...(status === 200 && content),
  }
  const present = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined)
  res.writeHead(status, Object.fromEntries(present))
  res.end(status === 200 ? bytes : undefined)
  logRequest(exchange, status)
  return status === 200 && req.method !== 'HEAD' ? bytes.length : 0
}
