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

/** Everything about a request that is not its content. */
export interface RequestMeta extends CommandMeta {
  requestId: string
  principal: Principal
  /** What the gateway says of its client; null for what another service asks. */
  source: EventSource | null
  /** What `delegate` needs, to continue with the person's rights; undefined for anonymous requests. */
  clientToken: string | undefined
  /** The service that asks in the person's name, and what for; null for what they ask by themselves. */
  delegate: { by: string; run: string } | null
  /** With `causationId`: how many runs and executions had caused the one that asks. */
  causationDepth?: number
  /** Of what another service asks by a token for this one call: no other call has it. */
  callId?: string
  /** The same for the same request with the same Idempotency-Key, and for no other; undefined without a key. */
  repetitionKey: string | undefined
  /** Aborts when the client goes away before it is answered. */
  signal(): AbortSignal
  /** A header of the request that its contract says nothing of, such as a signature; of several the first. */
  header(name: string): string | undefined
  /** Adds a header to this answer. It is not kept for a repeated Idempotency-Key. */
  answerHeader(name: string, value: string): void
  /** Writes every line with the request id. */
  log(): Logger
}

type ParamName<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | ParamName<`/${Tail}`>
    : Rest
  : Path extends `${string}/*${infer Name}`
    ? Name
    : never

/** The schema a path stands for: `{ id: string }` for `/incidents/:id`, `{ path: string }` for `/files/*path`. */
export type PathSchema<Path extends string> = z.ZodObject<{ [Name in ParamName<Path>]: z.ZodString }>

/** An operation that is on its way out, as RFC 9745 and RFC 8594 tell of it. */
export interface Deprecation {
  /** When it was deprecated: a date, or an instant in UTC. */
  since: string
  /** From when on it may be gone; not before `since`. */
  sunset?: string
  /** A page that says what to use instead. */
  link?: string
}

/** What a route and a list have in common. */
export interface Contract<Path extends string> {
  /** Stable and readable, such as `createIncident`. */
  operationId: string
  method: Method
  /**
   * Below the service's root, such as `/itsm/incidents/:id`. What is below `/origin` is reached without `/api/v1`, as
   * `/hooks/:id` for `/origin/hooks/:id`; the OpenAPI document has it so, with a server of its own.
   */
  path: Path
  summary: string
  description?: string
  tag: string
  /** False for routes that only the platform's own pages use: they are in no OpenAPI document. */
  isDocumented?: boolean
  scope: Scope
  /** The services that may call an internal route, at least one; all others are refused. */
  callers?: readonly InternalParty[]
  /**
   * The restrictions of a principal that every query of the handler goes by; none unless given, so that a restricted
   * principal is refused.
   */
  honours?: readonly HonourableRestriction[]
  /**
   * `required` unless the scope is `public` or `service`. `optional`, of a public route: a caller with a token of the platform
   * is logged in, in a workspace, and others pass as anonymous, with their Bearer as `guestTokenHeader`.
   */
  workspace?: 'required' | 'none' | 'optional'
  /** 1 MiB unless given; 16 KiB where the scope is `public`, as a stranger's body is kept until it is complete. */
  bodyLimitBytes?: number
  /**
   * Takes a step-up in the session of a browser: a person who has signed in, or proved who they are, within the last ten minutes. So a
   * session that was left open, or is ridden by a script, neither makes what outlives it nor changes who may do what.
   */
  stepUp?: boolean
  /**
   * For those who operate the installation, in a session of their own login: no API key, and no grant. Of no
   * workspace, and it shows no tenant's content.
   */
  operator?: boolean
  /**
   * Of an operation outside a workspace that changes nothing but the session it is called by: a session that enters one workspace
   * alone may call it, as it may read. An identity provider of one workspace cannot change the login.
   */
  ofSession?: boolean
  /**
   * The answer may take as long as a long-poll or an export: such requests share no connections with quick ones, and the
   * caller's token is checked again before the answer. No unless given; a stream always may.
   */
  waits?: boolean
  /** Codes beyond those the platform itself answers with. */
  errors?: readonly ErrorCode[]
  /** Said in the headers of every answer and in the OpenAPI document. */
  deprecated?: Deprecation
}

export interface RouteContract<
  Path extends string,
  Response extends z.ZodType,
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Body extends z.ZodType,
> extends Contract<Path> {
  /** Path ids need none: a malformed id is an absent one. What breaks this schema is a 422. */
  params?: Params
  /** Strict unless it has a catchall: an unknown query parameter is a 422. */
  query?: Query
  /** A missing body counts as `{}` where the schema allows that. POST, PUT and PATCH without one take no fields. */
  body?: Body
  /** The `data` of the envelope; without one, the answer is a 204. */
  response?: Response
  /** 200 unless given, or 204 without a response. */
  status?: 200 | 201 | 202 | 204
  /** The answer is the response itself, without the envelope: a document in a format of its own. */
  bare?: boolean
  /**
   * The response holds what changes without its version, such as counters: it is never answered with 304; or whether that one
   * does.
   */
  changesUnversioned?: boolean | ((data: z.output<Response>) => boolean)
  /**
   * How an Idempotency-Key is kept (POST, PATCH, PUT): `transaction` (default) hands it to the store through
   * meta.idempotency, `claim` takes it before the handler and completes it after, `none` ignores it. With `repeat` the
   * handler finds what an earlier attempt has done, by meta.repetitionKey: it is claimed, but where the process that
   * claimed it is gone, the next attempt need not wait.
   */
  idempotency?: 'transaction' | 'claim' | 'repeat' | 'none'
  /**
   * With status 201: tells of the answer whether it was there already instead of being created. It is then a 200
   * without a Location. Known from the answer alone, so that what is kept for replay says the same.
   */
  wasThere?(data: z.input<Response>): boolean
  /** With status 200: tells of the answer whether what was asked for is accepted and still to be done. It is then a 202. */
  accepted?(data: z.input<Response>): boolean
  /** With status 201: the path below which another route reads what is created, where that is not this route's own. */
  createdBelow?: string
  /** Removes plaintext secrets from what is kept for replay. */
  redactReplay?(data: z.input<Response>): unknown
  /** Whether If-Match is honoured: unless given, where a path names the versioned resource that is changed. */
  ifMatch?: boolean
  handler(input: {
    params: z.output<Params>
    query: z.output<Query>
    body: z.output<Body>
    meta: RequestMeta
  }): Promise<Answered<Response>>
}

/** What a handler returns; where there is no content to answer, it does not matter. */
export type Answered<Response extends z.ZodType> = Response extends z.ZodVoid ? unknown : z.input<Response>

/** A route as the app and the OpenAPI document see it. */
export interface Route {
  kind: 'single' | 'list' | 'stream' | 'document' | 'raw'
  operationId: string
  method: Method
  path: string
  summary: string
  description: string | undefined
  tag: string
  scope: Scope
  /** None but for internal routes. */
  callers: readonly InternalParty[]
  honours: readonly HonourableRestriction[]
  workspace: 'required' | 'none' | 'optional'
  params: z.ZodObject | undefined
  query: z.ZodObject
  body: z.ZodType | undefined
  /** Media types of the file that is the body, if it is one. */
  upload?: readonly string[]
  /** Media types of the answer, where it is not JSON or lines of it. */
  answers?: readonly string[]
  bodyLimitBytes: number
  waits: boolean
  stepUp: boolean
  operator: boolean
  ofSession: boolean
  isOfOrigin: boolean
  isDocumented: boolean
  /** `data`; for a list, of one item; for a stream, of one line. */
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
   * A list's handler returns a Page, a stream's what it sends, a document's a DocumentAnswer, a raw route's a RawAnswer. A stream's is
   * given `lastEventId` and `client`.
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

/** Who reads a stream: without signals, as thousands may be open for hours. */
export interface StreamClient {
  hasLeft(): boolean
  onLeave(listener: () => void): void
  /** Ends the connection at once, of a client that does not take what is sent. */
  cut(): void
}

/** One operation: the contract that makes the Express route, the handler's types and the OpenAPI operation. */
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

/** An unknown query parameter is an error, unless the query says what others may be. */
export const strictQuery = (query: z.ZodObject = z.object({})): z.ZodObject =>
  query.def.catchall === undefined ? withTimeZone(query).strict() : query

const publicBodyBytes = 16 * 1024

/** The fields every kind of route takes over from its contract as they are, with their defaults. */
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

/** Of an action that takes nothing: a field it would ignore is an error, as elsewhere. */
const noFields = z
  .strictObject({})
  .meta({ id: 'NoFields', description: 'Nothing, or an empty object.', example: {} })

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

/** Whether an If-None-Match may be answered with 304: what is read changes only with its version, or is its own. */
export function supportsIfNoneMatch(route: Route): boolean {
  if (route.kind === 'document') return true
  return route.method === 'get' && isVersioned(route) && route.changesUnversioned !== true
}

/** A change or removal of the one resource its path names. What is answered without a version has none to match. */
function changesVersioned({ method, path, response }: ChangingContract): boolean {
  if (method === 'get' || !path.includes(':')) return false
  if (response === undefined || response instanceof z.ZodVoid) return method === 'delete'
  return isVersioned({ kind: 'single', response })
}

interface ChangingContract extends Pick<Contract<string>, 'method' | 'path'> {
  response?: z.ZodType
}
