import { z } from 'zod'
import type { CachedDocument } from '../documents/cached-document.js'
import {
  type Contract,
  commonFields,
  type PathSchema,
  type RequestMeta,
  type Route,
  strictQuery,
} from './route.js'

/** A page, a script or an image for a browser, or a description of the API. */
export interface DocumentAnswer {
  document: CachedDocument
  /** Replace or extend those of every response; `undefined` removes one. */
  headers?: Readonly<Record<string, string | undefined>>
}

interface DocumentContract<Path extends string, Params extends z.ZodObject, Query extends z.ZodObject>
  extends Omit<Contract<Path>, 'method' | 'bodyLimitBytes' | 'waits'> {
  params?: Params
  query?: Query
  /** Schema of the content, if it is JSON and part of the API. */
  response?: z.ZodType
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    meta: RequestMeta
  }): Promise<DocumentAnswer>
}

/**
 * A document with the same bytes for all callers until it changes, with an ETag and
 * compression. Errors are answered as usual.
 */
export function defineDocument<
  const Path extends string,
  Params extends z.ZodObject = PathSchema<Path>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(contract: DocumentContract<Path, Params, Query>): Route {
  const handler: ErasedDocumentHandler = contract
  return {
    ...commonFields({ ...contract, method: 'get' }),
    kind: 'document',
    params: contract.params,
    query: strictQuery(contract.query),
    body: undefined,
    response: contract.response ?? z.unknown(),
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
