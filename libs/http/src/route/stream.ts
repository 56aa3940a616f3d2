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

/** Lines of JSON to send, a batch at a time: the next batch is asked for when there is room for it. */
interface LineStream<Line> {
  /** Offered to the client as the name of the file. */
  fileName: string
  batches: AsyncIterable<readonly Line[]>
}

/** The same as text that is made already, in a format of its own. */
export interface TextStream {
  fileName: string
  contentType: string
  texts: AsyncIterable<string>
}

/** Server-sent events as text that is made already, for as long as the client reads. */
interface EventFeed {
  frames: AsyncIterable<string>
}

/** A file whose length is known, or a range of it. */
export interface FileStream {
  fileName: string
  contentType: string
  /** 206 for a range, 304 for a file the client has. */
  status: 200 | 206 | 304
  /** In addition to those every response has, such as ETag and Content-Length. */
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
  /** What the answer may be, where it is not lines of JSON alone. */
  mediaTypes?: readonly string[]
  /** Schema of one line. */
  line: Line
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    meta: RequestMeta
    /** Of a reader that goes on where its stream has ended. */
    lastEventId: string | undefined
    client: StreamClient
  }): Promise<LineStream<z.input<Line>> | TextStream | FileStream | EventFeed>
}

/**
 * An answer of any length as lines of JSON (application/x-ndjson). What fails before the first batch is answered like
 * any error; what fails later ends the connection, so that no client takes a part for the whole.
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

/** Sends what the handler of a stream returned, no faster than the client takes it. */
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

/** No proxy on the way keeps events back, to compress them or until there are more. */
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

/** A file to be kept under this name; one beyond ASCII is said a second time, as of RFC 6266. */
function dispositionOf(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const full = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  )
  return `attachment; filename="${plain}"${plain === fileName ? '' : `; filename*=UTF-8''${full}`}`
}

/** Until the client has taken what was written, or has left. */
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
