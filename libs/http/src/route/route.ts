import {
  type CommandMeta,
  defaultRouteRule,
  type ErrorCode,
  type EventSource,
  type HonourableRestriction,
  type InternalParty,
  originPrefix,
  type Permission,
  type Principal,
} from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import { z } from 'zod'
import { withTimeZone } from './zoned-days.js'

/** A permission, or: no login needed, any login, or a service's own identity (`/internal/*` only). */
export type Scope = Permission | 'public' | 'authenticated' | 'service'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Context of a request, without its content. */
export interface RequestMeta extends CommandMeta {
  requestId: string
  principal: Principal
  /** The client as recorded by the gateway; `null` for requests of other services. */
  source: EventSource | null
  /** Required by `delegate` to act with the person's rights later; `undefined` for anonymous requests. */
  clientToken: string | undefined
  /** The service that calls in the person's name, and the purpose; `null` for the person's own requests. */
  delegate: { by: string; run: string } | null
  /** With `causationId`: number of runs and executions that caused the calling one. */
  causationDepth?: number
  /** Set for calls of another service with a token for one call: a unique id of the call. */
  callId?: string
  /** Equal only for repetitions of the same request with the same Idempotency-Key; `undefined` without a key. */
  repetitionKey: string | undefined
  /** Aborts when the client disconnects before the response. */
  signal(): AbortSignal
  /** A request header that is not in the contract, such as a signature; the first one if it is repeated. */
  header(name: string): string | undefined
  /** Adds a header to this response. It is not stored for replay under the Idempotency-Key. */
  answerHeader(name: string, value: string): void
  /** Logger that adds the request id to each line. */
  log(): Logger
}

type ParamName<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | ParamName<`/${Tail}`>
    : Rest
  : Path extends `${string}/*${infer Name}`
    ? Name
    : never

/** The schema of a path's parameters: `{ id: string }` for `/incidents/:id`, `{ path: string }` for `/files/*path`. */
export type PathSchema<Path extends string> = z.ZodObject<{ [Name in ParamName<Path>]: z.ZodString }>

/** Deprecation of an operation, as announced by RFC 9745 and RFC 8594. */
export interface Deprecation {
  /** When it was deprecated: a date, or an instant in UTC. */
  since: string
  /** When it may be removed; not before `since`. */
  sunset?: string
  /** A page that describes the replacement. */
  link?: string
}

/** Properties shared by routes and lists. */
export interface Contract<Path extends string> {
  /** Stable and readable, such as `createIncident`. */
  operationId: string
  method: Method
  /**
   * Below the service's root, such as `/itsm/incidents/:id`. Paths below `/origin` are reached without `/api/v1`:
   * `/hooks/:id` for `/origin/hooks/:id`; the OpenAPI document lists them this way, with a separate server entry.
   */
  path: Path
  summary: string
  description?: string
  tag: string
  /** `false` for routes that only the platform's own pages use: they are omitted from the OpenAPI document. */
  isDocumented?: boolean
  scope: Scope
  /** The services that may call an internal route, at least one; all others are rejected. */
  callers?: readonly InternalParty[]
  /**
   * The principal's restrictions that every query of the handler enforces; default none,
   * so that restricted principals are rejected.
   */
  honours?: readonly HonourableRestriction[]
  /**
   * Default: `required`, or `none` for the scopes `public` and `service`. `optional`, for public routes:
   * a caller with a platform token is logged in and in a workspace; others are anonymous, and their
   * Bearer token is passed in `guestTokenHeader`.
   */
  workspace?: 'required' | 'none' | 'optional'
  /**
   * Default: 1 MiB, or 16 KiB for the scope `public`, because the bodies of anonymous
   * callers are buffered until complete.
   */
  bodyLimitBytes?: number
  /**
   * Requires a step-up in browser sessions: the person must have signed in or proved their identity within
   * the last ten minutes. A session that was left open, or is controlled by a script, then cannot create
   * anything that outlives it, or change permissions.
   */
  stepUp?: boolean
  /**
   * For operators of the installation only, in a session of their own login: neither API keys nor grants are accepted.
   * Belongs to no workspace, and returns no tenant's content.
   */
  operator?: boolean
  /**
   * For operations outside a workspace that change only the calling session. A session limited to one workspace may
   * call them, in addition to reading. This keeps one workspace's identity provider from changing the login.
   */
  ofSession?: boolean
  /**
   * The response may take as long as a long-poll or an export: such requests use separate connections from fast ones,
   * and the caller's token is checked again before the response. Default `false`; always the case for streams.
   */
  waits?: boolean
  /** Codes in addition to those the platform itself returns. */
  errors?: readonly ErrorCode[]
  /** Announced in the headers of every response and in the OpenAPI document. */
  deprecated?: Deprecation
}

export interface RouteContract<
  Path extends string,
  Response extends z.ZodType,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Contract<Path> {
  /** Path ids need no schema: a malformed id is a 404. A violation of this schema is a 422. */
  params?: Params
  /** Strict unless it has a catchall: an unknown query parameter is a 422. */
  query?: Query
  /** A missing body counts as `{}` where the schema allows that. POST, PUT and PATCH without a schema accept no fields. */
  body?: Body
  /** The `data` of the envelope; without a schema, the response is a 204. */
  response?: Response
  /** Default 200, or 204 without a response. */
  status?: 200 | 201 | 202 | 204
  /** The response is sent without the envelope: a document with its own format. */
  bare?: boolean
  /**
   * The response contains values that change without its version, such as counters, so it is never answered
   * with 304. A function decides this per response.
   */
  changesUnversioned?: boolean | ((data: z.output<Response>) => boolean)
  /**
   * How an Idempotency-Key is stored (POST, PATCH, PUT). `transaction` (default): passed to the store through
   * meta.idempotency. `claim`: claimed before the handler and completed after it. `none`: ignored. `repeat`: claimed,
   * and the handler finds the effects of an earlier attempt by meta.repetitionKey; if the process that claimed the key
   * is gone, the next attempt need not wait.
   */
  idempotency?: 'transaction' | 'claim' | 'repeat' | 'none'
  /**
   * With status 201: whether the resource already existed instead of being created. The response is then a 200 without
   * a Location. Computed from the response alone, so that a replayed response gives the same result.
   */
  wasThere?(data: z.input<Response>): boolean
  /** With status 200: whether the request was accepted but is not completed yet. The response is then a 202. */
  accepted?(data: z.input<Response>): boolean
  /** With status 201: path below which another route reads the created resource, if it is not this route's own path. */
  createdBelow?: string
  /** Removes plaintext secrets from the response stored for replay. */
  redactReplay?(data: z.input<Response>): unknown
  /** Whether If-Match is evaluated. Default: `true` if the route changes the versioned resource named by its path. */
  ifMatch?: boolean
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    body: z.output<Body>
    meta: RequestMeta
  }): Promise<Answered<Response>>
}

/** Return value of a handler; ignored if the response has no content. */
export type Answered<Response extends z.ZodType> = Response extends z.ZodVoid ? unknown : z.input<Response>

/** A route as used by the app and the OpenAPI document. */
export interface Route {
  kind: 'single' | 'list' | 'stream' | 'document' | 'raw'
  operationId: string
  method: Method
  path: string
  summary: string
  description: string | undefined
  tag: string
  scope: Scope
  /** Empty except for internal routes. */
  callers: readonly InternalParty[]
  honours: readonly HonourableRestriction[]
  workspace: 'required' | 'none' | 'optional'
  params: z.ZodObject | undefined
  query: z.ZodObject
  body: z.ZodType | undefined
  /** Media types of the file that is the body, if it is one. */
  upload?: readonly string[]
  /** Media types of the response, if it is neither JSON nor JSON lines. */
  answers?: readonly string[]
  bodyLimitBytes: number
  waits: boolean
  stepUp: boolean
  operator: boolean
  ofSession: boolean
  isOfOrigin: boolean
  isDocumented: boolean
  /** Schema of `data`; for a list, of one item; for a stream, of one line. */
  response: z.ZodType
  status: number
  bare: boolean
  changesUnversioned: boolean | ((data: unknown) => boolean)
  errors: readonly ErrorCode[]
  deprecated: Deprecation | undefined
  idempotency: 'transaction' | 'claim' | 'repeat' | 'none'
  ifMatch: boolean
  wasThere?(data: unknown): boolean
  accepted?(data: unknown): boolean
  createdBelow?: string
  redactReplay?(data: unknown): unknown
  /**
   * Returns a Page for a list, the content for a stream, a DocumentAnswer for a document, a RawAnswer for a raw route.
   * The handler of a stream also receives `lastEventId` and `client`.
   */
  handler(input: {
    params: unknown
    query: unknown
    body: unknown
    meta: RequestMeta
    lastEventId?: string | undefined
    client?: StreamClient
  }): Promise<unknown>
}

/** The reader of a stream. Uses no AbortSignal, because thousands of streams may be open for hours. */
export interface StreamClient {
  hasLeft(): boolean
  onLeave(listener: () => void): void
  /** Closes the connection immediately, for a client that does not read. */
  cut(): void
}

/** One operation: the contract that determines the Express route, the handler's types and the OpenAPI operation. */
export function defineRoute<
  const Path extends string,
  Response extends z.ZodType = z.ZodVoid,
  Params extends z.ZodObject = PathSchema<Path>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(contract: RouteContract<Path, Response, Params, Query, Body>): Route {
  return {
    ...commonFields(contract),
    kind: 'single',
    params: contract.params,
    query: strictQuery(contract.query),
    body: contract.body ?? (mayHaveBody(contract) ? noFields : undefined),
    response: contract.response ?? z.void(),
    status: contract.status ?? (contract.response ? 200 : 204),
    bare: contract.bare ?? false,
    changesUnversioned: (contract.changesUnversioned ?? false) as Route['changesUnversioned'],
    idempotency: keepsKeys(contract) && !contract.bare ? (contract.idempotency ?? 'transaction') : 'none',
    ifMatch: contract.ifMatch ?? changesVersioned(contract),
    ...(contract.wasThere && { wasThere: contract.wasThere }),
    ...(contract.accepted && { accepted: contract.accepted }),
    ...(contract.createdBelow && { createdBelow: contract.createdBelow }),
    ...(contract.redactReplay && { redactReplay: contract.redactReplay }),
    handler: contract.handler,
  }
}

/** An unknown query parameter is an error, unless the query has a catchall. */
export const strictQuery = (query: z.ZodObject = z.object({})): z.ZodObject =>
  query.def.catchall === undefined ? withTimeZone(query).strict() : query

const publicBodyBytes = 16 * 1024

/** The fields every kind of route copies from its contract, with their defaults. */
export function commonFields(contract: Contract<string>) {
  const outside = contract.scope === 'public' || contract.scope === 'service'
  return {
    operationId: contract.operationId,
    method: contract.method,
    path: contract.path,
    summary: contract.summary,
    description: contract.description,
    tag: contract.tag,
    scope: contract.scope,
    callers: contract.callers ?? [],
    honours: contract.honours ?? [],
    workspace: contract.workspace ?? (outside ? 'none' : 'required'),
    bodyLimitBytes:
      contract.bodyLimitBytes ??
      (contract.scope === 'public' ? publicBodyBytes : defaultRouteRule.bodyLimitBytes),
    waits: contract.waits ?? false,
    stepUp: contract.stepUp ?? false,
    operator: contract.operator ?? false,
    ofSession: contract.ofSession ?? false,
    isOfOrigin: contract.path.startsWith(`${originPrefix}/`),
    isDocumented: contract.isDocumented ?? contract.scope !== 'service',
    errors: contract.errors ?? [],
    deprecated: contract.deprecated,
  }
}

/** For actions without a body: a field would be ignored, so it is an error, as elsewhere. */
const noFields = z
  .strictObject({})
  .meta({ id: 'NoFields', description: 'No body, or an empty object.', example: {} })

const mayHaveBody = ({ method }: Contract<string>) =>
  method === 'post' || method === 'put' || method === 'patch'

/** Anonymous requests have no owner for a key. */
function keepsKeys(contract: Contract<string>): boolean {
  return contract.scope !== 'public' && mayHaveBody(contract)
}

/** Whether the response is one resource with a version, which is its ETag. */
export function isVersioned({ kind, response }: Pick<Route, 'kind' | 'response'>): boolean {
  return kind === 'single' && response instanceof z.ZodObject && 'version' in response.shape
}

/** Whether If-None-Match can be answered with 304: the response is a document, or changes only with its version. */
export function supportsIfNoneMatch(route: Route): boolean {
  if (route.kind === 'document') return true
  return route.method === 'get' && isVersioned(route) && route.changesUnversioned !== true
}

/** Whether the route changes or deletes the one resource its path names. A response without a version has none to match. */
function changesVersioned({ method, path, response }: ChangingContract): boolean {
  if (method === 'get' || !path.includes(':')) return false
  if (response === undefined || response instanceof z.ZodVoid) return method === 'delete'
  return isVersioned({ kind: 'single', response })
}

interface ChangingContract extends Pick<Contract<string>, 'method' | 'path'> {
  response?: z.ZodType
}
