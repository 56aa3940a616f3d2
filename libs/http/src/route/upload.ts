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

/** For files of any type. */
export const anyMediaType = '*/*'

interface UploadContract<
  Path extends string,
  Response extends z.ZodType,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
> extends Omit<RouteContract<Path, Response, Params, Query, z.ZodUndefined>, 'body' | 'handler'> {
  /** Accepted media types of the file. */
  mediaTypes: readonly string[]
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    /** The file as it arrives, with backpressure. Throws `payload_too_large`. */
    upload: AsyncIterable<Buffer>
    meta: RequestMeta
  }): Promise<Answered<Response>>
}

/**
 * A route whose body is a file, which is never buffered as a whole. An Idempotency-Key
 * covers the request without the file.
 */
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

/**
 * The file of a request, limited in size. Throws `unsupported_media_type`, and `payload_too_large`
 * if its Content-Length exceeds the limit.
 */
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
    // The rest of a rejected upload is discarded as it arrives: resetting the connection would hide the reason.
    req.resume()
  }
}

const tooLarge = (limitBytes: number) =>
  new ApiError('payload_too_large', `The file may have at most ${limitBytes} bytes.`)
