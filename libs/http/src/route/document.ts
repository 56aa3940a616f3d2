import { z } from 'zod'
import { type Exchange, logRequest } from '../server/exchange.js'
import { securityHeaders } from '../server/security-headers.js'
import { type Contract, common, type PathSchema, type RequestMeta, type Route, strictQuery } from './route.js'

/** A page, a script or an image for a browser. */
export interface BrowserDocument {
  contentType: string
  content: Buffer
  /** Instead of those of every answer, or beside them; one that is undefined is left out. */
  headers?: Readonly<Record<string, string | undefined>>
}

export interface DocumentContract<Path extends string, Params extends z.ZodObject, Query extends z.ZodObject>
  extends Omit<Contract<Path>, 'method' | 'bodyLimitBytes' | 'waits'> {
  params?: Params
  query?: Query
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    meta: RequestMeta
  }): Promise<BrowserDocument>
}

/** What a browser shows or runs. Errors are answered as everywhere. */
export function defineDocument<
  const Path extends string,
  Params extends z.ZodObject = PathSchema<Path>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(contract: DocumentContract<Path, Params, Query>): Route {
  const handler: ErasedDocumentHandler = contract
  return {
    ...common({ ...contract, method: 'get' }),
    kind: 'document',
    params: contract.params,
    query: strictQuery(contract.query),
    body: undefined,
    response: z.unknown(),
    status: 200,
    bare: true,
    changesUnversioned: false,
    idempotency: 'none',
    ifMatch: false,
    handler: (input) => handler.handler(input),
  }
}

interface ErasedDocumentHandler {
  handler(input: { params: unknown; query: unknown; meta: RequestMeta }): Promise<unknown>
}

/** Sends what the handler of a document returned. */
export function sendDocument(exchange: Exchange, data: unknown): void {
  const { contentType, content, headers } = data as BrowserDocument
  const all = {
    ...securityHeaders,
    ...headers,
    'X-Request-ID': exchange.requestId,
    'Content-Type': contentType,
    'Content-Length': String(content.length),
  }
  const present = Object.entries(all).filter((header): header is [string, string] => header[1] !== undefined)
  exchange.res.writeHead(200, Object.fromEntries(present))
  exchange.res.end(content)
  logRequest(exchange, 200)
}
