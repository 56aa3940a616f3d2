import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { stringifyExact } from '@opsplane/contracts'
import type { z } from 'zod'
import { type Exchange, headerLines, logRequest } from '../server/exchange.js'
import { checkAnswer } from '../server/response-check.js'
import {
  type Contract,
  commonFields,
  type PathSchema,
  type RequestMeta,
  type Route,
  type StreamClient,
  strictQuery,
} from './route.js'

/** JSON lines to send in batches: the next batch is requested when there is room for it. */
interface LineStream<Line> {
  /** Suggested to the client as the file name. */
  fileName: string
  batches: AsyncIterable<readonly Line[]>
}

/** Content as finished text in another format. */
export interface TextStream {
  fileName: string
  contentType: string
  texts: AsyncIterable<string>
}

/** Server-sent events as finished text, sent while the client reads. */
interface EventFeed {
  frames: AsyncIterable<string>
}

/** A file of known length, or a range of it. */
export interface FileStream {
  fileName: string
  contentType: string
  /** 206 for a range, 304 for a file the client already has. */
  status: 200 | 206 | 304
  /** Added to those of every response, such as ETag and Content-Length. */
  headers: Readonly<Record<string, string>>
  bytes: AsyncIterable<Uint8Array>
}

interface StreamContract<
  Path extends string,
  Line extends z.ZodType,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
> extends Omit<Contract<Path>, 'method' | 'bodyLimitBytes' | 'waits'> {
  params?: Params
  query?: Query
  /** Media types of the response, if it is not only JSON lines. */
  mediaTypes?: readonly string[]
  /** Schema of one line. */
  line: Line
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    meta: RequestMeta
    /** Id of the last event received by a reader that resumes an ended stream. */
    lastEventId: string | undefined
    client: StreamClient
  }): Promise<LineStream<z.input<Line>> | TextStream | FileStream | EventFeed>
}

/**
 * A response of any length as JSON lines (application/x-ndjson). A failure before the first batch is answered like any
 * error; a later one closes the connection, so that no client mistakes a part for the whole.
 */
export function defineStream<
  const Path extends string,
  Line extends z.ZodType,
  Params extends z.ZodObject = PathSchema<Path>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(contract: StreamContract<Path, Line, Params, Query>): Route {
  const handler = contract as ErasedStreamHandler
  return {
    ...commonFields({ ...contract, method: 'get', waits: true }),
    kind: 'stream',
    params: contract.params,
    query: strictQuery(contract.query),
    body: undefined,
    response: contract.line,
    ...(contract.mediaTypes && { answers: contract.mediaTypes }),
    status: 200,
    bare: true,
    changesUnversioned: false,
    idempotency: 'none',
    ifMatch: false,
    handler: (input) => handler.handler(input),
  }
}

interface ErasedStreamHandler {
  handler(input: {
    params: unknown
    query: unknown
    meta: RequestMeta
    lastEventId?: string | undefined
    client?: StreamClient
  }): Promise<unknown>
}

type Sent = LineStream<unknown> | TextStream | FileStream | EventFeed

/** Sends the return value of a stream's handler, with backpressure. */
export async function sendLines(exchange: Exchange, route: Route, data: unknown, check: boolean) {
  const { res } = exchange
  const stream = data as Sent
  let begun = false
  for await (const text of contentOf(stream, route, check)) {
    if (!begun) begin(exchange, stream)
    begun = true
    if (res.destroyed) break
    if (!res.write(text)) await room(res)
    if (res.destroyed) break
  }
  if (!begun) begin(exchange, stream)
  res.end()
  logRequest(exchange, res.destroyed ? 499 : res.statusCode)
}

function contentOf(stream: Sent, route: Route, check: boolean): AsyncIterable<string | Uint8Array> {
  if ('texts' in stream) return stream.texts
  if ('frames' in stream) return stream.frames
  return 'bytes' in stream ? stream.bytes : linesOf(stream, route, check)
}

async function* linesOf({ batches }: LineStream<unknown>, route: Route, check: boolean) {
  for await (const batch of batches) {
    if (check) for (const line of batch) checkAnswer(route, line)
    yield batch.map((line) => `${stringifyExact(line)}\n`).join('')
  }
}

/** Keeps proxies from delaying events to compress or batch them. */
const eventHeaders = [
  ...['Content-Type', 'text/event-stream; charset=utf-8'],
  ...['Cache-Control', 'no-store, no-transform', 'X-Accel-Buffering', 'no'],
]

function begin(exchange: Exchange, stream: Sent): void {
  if ('frames' in stream) {
    const common = headerLines(exchange)
    const at = common.findIndex((line) => line.toLowerCase() === 'cache-control')
    if (at !== -1) common.splice(at, 2)
    exchange.res.writeHead(200, [...common, ...eventHeaders])
    return
  }
  const isFile = 'bytes' in stream
  exchange.res.writeHead(isFile ? stream.status : 200, [
    ...headerLines(exchange),
    'Content-Type',
    'contentType' in stream ? stream.contentType : 'application/x-ndjson; charset=utf-8',
    'Content-Disposition',
    dispositionOf(stream.fileName),
    ...(isFile ? Object.entries(stream.headers).flat() : []),
  ])
}

/** Content-Disposition of a file to download. A name with non-ASCII characters is repeated in the encoding of RFC 6266. */
function dispositionOf(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const full = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"${plain === fileName ? '' : `; filename*=UTF-8''${full}`}`
}

/** Resolves when the client has received the written data, or has disconnected. */
async function room(res: ServerResponse): Promise<void> {
  if (res.destroyed) return
  const either = new AbortController()
  const { signal } = either
  const waits = ['drain', 'close'].map((event) => once(res, event, { signal }))
  try {
    await Promise.race(waits)
  } finally {
    either.abort()
    await Promise.allSettled(waits)
  }
}
