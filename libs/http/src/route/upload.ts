import type { IncomingMessage } from 'node:http'
import { ApiError } from '@opsplane/contracts'
import type { z } from 'zod'
import {
  type Answered,
  defineRoute,
  type PathSchema,
  type RequestMeta,
  type Route,
  type RouteContract,
} from './route.js'

/** For files that may be anything. */
export const anyMediaType = '*/*'

interface UploadContract<
  Path extends string,
  Response extends z.ZodType,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
> extends Omit<RouteContract<Path, Response, Params, Query, z.ZodUndefined>, 'body' | 'handler'> {
  /** What a file may be. */
  mediaTypes: readonly string[]
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    /** The file as it arrives; no faster than it is taken. Throws `payload_too_large`. */
    upload: AsyncIterable<Buffer>
    meta: RequestMeta
  }): Promise<Answered<Response>>
}

/** A route whose body is a file, which is never held whole. An Idempotency-Key speaks of the request without the file. */
export function defineUpload<
  const Path extends string,
  Response extends z.ZodType,
  Params extends z.ZodObject = PathSchema<Path>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(contract: UploadContract<Path, Response, Params, Query>): Route {
  const route = defineRoute<Path, Response, Params, Query>({
    ...contract,
    waits: true,
    idempotency: contract.idempotency ?? 'claim',
    handler: ({ params, query, body, meta }) =>
      contract.handler({ params, query, upload: body as unknown as AsyncIterable<Buffer>, meta }),
  })
  return { ...route, body: undefined, upload: contract.mediaTypes }
}

/** The file of a request, bounded. Throws `unsupported_media_type`, and `payload_too_large` where its length says so. */
export function readUpload(
  req: IncomingMessage,
  mediaTypes: readonly string[],
  limitBytes: number,
): AsyncIterable<Buffer> {
  const [type = ''] = (req.headers['content-type'] ?? '').split(';')
  const coding = req.headers['content-encoding'] ?? 'identity'
  const isOneOf = mediaTypes.includes(anyMediaType) || mediaTypes.includes(type.trim().toLowerCase())
  if (!isOneOf || coding !== 'identity') {
    throw new ApiError('unsupported_media_type', `The body must be ${mediaTypes.join(' or ')}, uncompressed.`)
  }
  if (Number(req.headers['content-length']) > limitBytes) throw tooLarge(limitBytes)
  return bounded(req, limitBytes)
}

async function* bounded(req: IncomingMessage, limitBytes: number): AsyncIterable<Buffer> {
  let seen = 0
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      seen += chunk.length
      if (seen > limitBytes) throw tooLarge(limitBytes)
      yield chunk
    }
  } finally {
    // The rest of what is refused is discarded as it arrives: a reset connection would not say why.
    req.resume()
  }
}

const tooLarge = (limitBytes: number) =>
  new ApiError('payload_too_large', `The file may have at most ${limitBytes} bytes.`)
