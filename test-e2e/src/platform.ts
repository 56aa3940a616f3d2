import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClientOptions, createClient } from '@opsplane/client'
import { serviceRegistry } from '@opsplane/contracts'
import { type Cluster, type ClusterOptions, openState, startCluster } from '@opsplane/local'
import {
  isRepeatable,
  measureFixture,
  type RepeatedAnswer,
  repeatedAnswer,
  repetitionProblems,
  waitFor,
} from '@opsplane/testing'
import { type Dispatcher, request } from 'undici'
import { fillState } from './prepared-state.js'

/** Only processes are killed here, and their written data survives in the page cache, so no sync to disk is needed. */
const postgresFlags = ['fsync=off', 'full_page_writes=off']

/**
 * The platform as processes on its own servers; its folder is removed afterwards, unless KEEP_E2E_STATE names a
 * folder.
 */
export async function startTestCluster(options: Omit<ClusterOptions, 'state'> = {}) {
  const folder = mkdtempSync(join(process.env.KEEP_E2E_STATE ?? tmpdir(), 'opsplane-e2e-'))
  const prepared = await measureFixture('state of a cluster', () => fillState(join(folder, 'state')))
  const state = openState(join(folder, 'state'))
  // Tests send requests faster than one client would; the limits have their own tests.
  const extra = { RATE_LIMIT_PER_MINUTE: '60000', ...options.extra }
  const cluster = await measureFixture('cluster', () =>
    startCluster({ state, prepared, postgresFlags, ...options, extra }),
  )
  return {
    ...cluster,
    /** Folder of the state: server data, logs, keys. */
    folder: join(folder, 'state'),
    stop: async () => {
      await cluster.stop()
      if (process.env.KEEP_E2E_STATE === undefined) {
        rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
      }
    },
  }
}
export type TestCluster = Cluster

/** The OpenAPI document, once every service has described itself. */
export async function fetchOpenApi<Document extends { paths: object }>(info: {
  baseUrl: string
}): Promise<Document> {
  return waitFor(async () => {
    const response = await fetch(`${info.baseUrl}/openapi.json`)
    const document = (await response.json()) as Document
    // The gateway leaves out all paths of a service that cannot describe itself yet.
    const described = Object.keys(document.paths)
    const isDescribed = (prefix: string) => described.some((path) => `${path}/`.startsWith(`/${prefix}/`))
    const missing = Object.values(serviceRegistry).flatMap(({ paths }) =>
      paths.filter((prefix) => !isDescribed(prefix)),
    )
    if (missing.length > 0) throw new Error(`nothing is said of ${missing.join(', ')}`)
    return document
  })
}

export interface ApiAnswer<T = Record<string, unknown>> {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: T
}

export interface ApiRequest {
  body?: unknown
  /** Sent unchanged, instead of `body`. */
  rawBody?: string
  headers?: Record<string, string | undefined>
}

/** The typed client of the platform, as the owner unless overridden. */
export function typedClient(
  info: { baseUrl: string; apiKey: string; workspace: string },
  options: Partial<ClientOptions> = {},
) {
  return createClient({ baseUrl: info.baseUrl, token: info.apiKey, workspace: info.workspace, ...options })
}

/**
 * For requests the typed client does not allow, such as invalid input: calls the API through the gateway as the
 * owner; a header set to undefined is omitted. Repeats a request that succeeded with an Idempotency-Key, and throws
 * unless the responses are equal.
 */
export function apiClient(
  info: { baseUrl: string; apiKey: string; workspace: string },
  { dispatcher }: { dispatcher?: Dispatcher } = {},
) {
  return async <T = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    options: ApiRequest = {},
  ): Promise<ApiAnswer<T>> => {
    const payload = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    const headers = {
      authorization: `Bearer ${info.apiKey}`,
      'x-workspace': info.workspace,
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    }
    const present = Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    const sendRequest = async () => {
      const response = await request(`${info.baseUrl}${path}`, {
        method,
        headers: Object.fromEntries(present),
        ...(dispatcher && { dispatcher }),
        ...(payload === undefined ? {} : { body: payload }),
      })
      const text = await response.body.text()
      const body = (text === '' ? {} : JSON.parse(text)) as T
      return { status: response.statusCode, headers: response.headers, body }
    }
    const answer = await sendRequest()
    // A key belongs to its caller: without a caller, as when signing in, it has no effect.
    const identified = headers.authorization !== undefined
    if (identified && isRepeatable({ method, headers }, answer.status))
      checkRepetition(repeated(answer), await repeatedAnswer(async () => repeated(await sendRequest())))
    return answer
  }
}

/** Returns without a comparison if a test has ended the process that would answer. */
function checkRepetition(first: RepeatedAnswer, again: RepeatedAnswer): void {
  if (again.status >= 500) return
  const problems = repetitionProblems(first, again)
  if (problems.length > 0) throw new Error(problems.join('; '))
}

const repeated = ({ status, headers, body }: ApiAnswer<unknown>): RepeatedAnswer => ({
  ...{ status, body },
  header: (name) => headers[name]?.toString(),
})
export type Api = ReturnType<typeof apiClient>
