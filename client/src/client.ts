import { parseExact, stringifyExact } from '@opsplane/contracts/exact-json'
import createFetchClient, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch'
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf } from 'openapi-typescript-helpers'
import { OpsplaneError } from './error.js'
import { type RetryOptions, withRetries } from './retry.js'
import type { paths } from './schema.js'

export interface ClientOptions {
  /** Such as `https://ops.example.com/api/v1`. */
  baseUrl: string
  /** A session token or an API key, or what gives the present one. */
  token?: string | (() => string | Promise<string>)
  /** Slug of the workspace the calls work in. */
  workspace?: string
  /** `production` unless given. */
  environment?: Environment
  /** Without it nothing is sent again. */
  retry?: RetryOptions
  fetch?: (request: Request) => Promise<Response>
}
export type Environment = 'production' | 'staging' | 'development'

/** Options of a call; optional where none of them is required. */
type Init<Path extends keyof paths, Method extends HttpMethod> =
  MaybeOptionalInit<paths[Path], Method & keyof paths[Path]> extends infer Options
    ? RequiredKeysOf<Options> extends never
      ? [init?: Options]
      : [init: Options]
    : never

/** The body of a successful answer. */
type Answer<Path extends keyof paths, Method extends HttpMethod> = paths[Path][Method &
  keyof paths[Path]] extends infer Operation extends Record<string | number, unknown>
  ? Extract<FetchResponse<Operation, object, MediaType>, { error?: never }>['data']
  : never

/**
 * Sends one request; resolves to the body of a successful answer, throws an OpsplaneError for any other. A number that a double
 * would change, such as one in a JSON column, is an ExactNumber with all its digits, in bodies as in answers.
 */
export type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: Init<Path, Method>
) => Promise<Answer<Path, Method>>

/** The addresses that answer with pages. */
export type ListPath = {
  [Path in PathsWithMethod<paths, 'get'>]: Answer<Path, 'get'> extends {
    data: unknown[]
    pagination: unknown
  }
    ? Path
    : never
}[PathsWithMethod<paths, 'get'>]

type Item<Path extends ListPath> = Answer<Path, 'get'> extends { data: (infer Element)[] } ? Element : never

export interface OpsplaneClient {
  get: Call<'get'>
  post: Call<'post'>
  put: Call<'put'>
  patch: Call<'patch'>
  delete: Call<'delete'>
  /** Every item of a list, reading page after page as they are asked for. */
  items<Path extends ListPath>(
    path: Path,
    ...init: Init<Path, 'get'>
  ): AsyncGenerator<Item<Path>, void, undefined>
  /**
   * Resolves to status, headers and body whatever the answer, for what needs more than the body. It parses by JSON.parse:
   * where digits matter, ask for the body with `parseAs: 'text'` and read it by `parseExact`.
   */
  raw: ReturnType<typeof createFetchClient<paths>>
}

/** A client of the platform's API, typed by its OpenAPI document. */
export function createClient(options: ClientOptions): OpsplaneClient {
  const send = options.fetch ?? ((request: Request) => fetch(request))
  const raw = createFetchClient<paths>({
    baseUrl: options.baseUrl,
    bodySerializer: stringifyExact,
    fetch: options.retry ? withRetries(send, options.retry) : send,
  })
  raw.use({
    async onRequest({ request }) {
      for (const [name, value] of await standardHeaders(options, request.method)) {
        if (!request.headers.has(name)) request.headers.set(name, value)
      }
      return request
    },
  })
  const call = (method: HttpMethod) => caller(raw, method)
  return {
    get: call('get') as Call<'get'>,
    post: call('post') as Call<'post'>,
    put: call('put') as Call<'put'>,
    patch: call('patch') as Call<'patch'>,
    delete: call('delete') as Call<'delete'>,
    items: (path, ...[init]) => items(call('get'), path, init as UntypedInit | undefined),
    raw,
  }
}

/** `crypto.randomUUID` is there on secure origins only, and the client runs in browsers too. */
const randomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )

const takingKeys = ['POST', 'PUT', 'PATCH']

async function standardHeaders(options: ClientOptions, method: string): Promise<[string, string][]> {
  const { token, workspace, environment } = options
  const present = typeof token === 'function' ? await token() : token
  return [
    ['X-Request-ID', randomId()],
    ...(present === undefined ? [] : [['Authorization', `Bearer ${present}`] as [string, string]]),
    ...(workspace === undefined ? [] : [['X-Workspace', workspace] as [string, string]]),
    ...(environment === undefined ? [] : [['X-Environment', environment] as [string, string]]),
    ...(takingKeys.includes(method) ? [['Idempotency-Key', randomId()] as [string, string]] : []),
  ]
}

interface UntypedInit {
  parseAs?: string
  params?: { query?: Record<string, unknown> }
}
type UntypedCall = (path: string, init?: UntypedInit) => Promise<unknown>

/** The types of a call are worked out by its caller, from the document; here any address is as good as another. */
function caller(raw: OpsplaneClient['raw'], method: HttpMethod): UntypedCall {
  const request = raw.request as unknown as (
    method: HttpMethod,
    path: string,
    init?: UntypedInit,
  ) => Promise<{ data?: unknown; error?: unknown; response: Response }>
  return async (path, init) => {
    const { parseAs = 'json' } = init ?? {}
    const isJson = parseAs === 'json'
    const { data, error, response } = await request(method, path, {
      ...init,
      parseAs: isJson ? 'text' : parseAs,
    })
    if (!response.ok) throw new OpsplaneError(response.status, error, response)
    return isJson && data ? parseExact(String(data)) : data
  }
}

interface UntypedPage {
  data: unknown[]
  pagination: { nextCursor: string | null; hasMore: boolean }
}

async function* items<Element>(
  get: UntypedCall,
  path: string,
  init: UntypedInit = {},
): AsyncGenerator<Element, void, undefined> {
  let after: string | null | undefined
  do {
    const query = { ...init.params?.query, ...(after && { after }) }
    const page = (await get(path, { ...init, params: { ...init.params, query } })) as UntypedPage
    for (const item of page.data) yield item as Element
    // A log that is read on for ever has a next cursor on its last page too.
    after = page.pagination.hasMore ? page.pagination.nextCursor : null
  } while (after)
}
