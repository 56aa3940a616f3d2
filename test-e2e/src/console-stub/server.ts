import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  assetPath,
  consoleHeaders,
  consolePage,
  consoleVersion,
  versionPath,
} from '@opsplane/gateway/console-page'
import { builtAssets, type CachedDocument } from '@opsplane/http'
import { buildAnswers } from './answers.js'
import { eventAt } from './events.js'
import { me, notificationAt, permissionsOfOwner, workspace } from './people.js'
import { meta, rowsIn, type StubState, stubStates, toPage } from './states.js'

export interface StubConsole {
  origin: string
  /** Cookies of a browser whose user is signed in, and that receives responses of a state. */
  cookiesFor(state: StubState, isOperator?: boolean): { name: string; value: string; url: string }[]
  /** Sends a message to every open event stream. */
  send(event: 'event' | 'changed' | 'reset', data: object): void
  /** Requests for which the stub has no response. */
  unknown: ReadonlySet<string>
  stop(): Promise<void>
}

const apiPath = '/api/v1'
const signedIn = 'opsplane_signed_in_stub=yes'

/**
 * Serves the built console and a stub of the API with fixed responses that match the OpenAPI document: no database,
 * no events, no second process. `manyRows` is the length of lists in the state `many`.
 */
export async function startStubConsole(manyRows = 10_000): Promise<StubConsole> {
  const assets = builtAssets(new URL('../../../console/bundle/', import.meta.url))
  const unknown = new Set<string>()
  const streams = new Set<ServerResponse>()
  const answers = Object.fromEntries(
    stubStates.map((state) => [state, routesOf(buildAnswers(rowsIn(state, manyRows)))]),
  ) as Record<StubState, Route[]>

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://stub')
    const { pathname } = url
    if (pathname.startsWith(assetPath))
      return sendKept(response, assets.file(pathname.slice(assetPath.length)).document, {
        'cache-control': 'max-age=600',
      })
    if (pathname === versionPath) return sendKept(response, consoleVersion(assets.list()))
    if (pathname === `${apiPath}/events/stream`) return openStream(response, streams)
    if (!pathname.startsWith('/api/')) return sendKept(response, consolePage(assets.list()), consoleHeaders)
    const { state, isOperator } = visitOf(request)
    const own = ownAnswer(pathname, isOperator)
    if (own !== undefined) return sendJson(response, 200, own)
    if (state === 'loading') return
    if (state === 'error') return sendError(response, 500, 'internal_error', 'Something went wrong here.')
    if (state === 'forbidden')
      return sendError(response, 403, 'insufficient_scope', 'This takes the permission webhooks:read.')
    const path = pathname.replace(/^\/api\/(v1|service-sdk)/, '')
    const route = answers[state].find(({ pattern }) => pattern.test(path))
    const posted =
      request.method === 'POST' ? postAnswers.find(([ending]) => path.endsWith(ending)) : undefined
    if (posted !== undefined) return sendJson(response, 200, { data: posted[1], meta })
    if (route === undefined || request.method !== 'GET') {
      unknown.add(`${request.method} ${pathname}`)
      return sendError(response, 404, 'not_found', 'There is no such thing.')
    }
    const parts = (route.pattern.exec(path) ?? []).slice(1).map(decodeURIComponent)
    const isDetail = parts.length > 0 && !/(replays|deliveries|events|sessions|dependents|status)$/.test(path)
    if (state === 'empty' && isDetail) return sendError(response, 404, 'not_found', 'There is no such thing.')
    sendJson(response, 200, route.answer({ parts, query: url.searchParams }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let seq = eventAt(0).seq
  return {
    ...{ origin, unknown },
    cookiesFor: (state, isOperator = true) => {
      const [name = '', value = ''] = signedIn.split('=')
      return [
        { name, value, url: origin },
        { name: 'stub', value: `${state}.${isOperator ? 'operator' : 'owner'}`, url: origin },
      ]
    },
    send: (event, data) => {
      const id = event === 'event' ? `id: ${++seq}\n` : ''
      for (const stream of streams) stream.write(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Responses to POSTs that pages send by themselves, by the end of the path. */
const postAnswers: [ending: string, data: object][] = [
  ['/deliveries/replay', { count: 214, job: null }],
  ['/read', notificationAt(0)],
]

interface Route {
  pattern: RegExp
  answer: (request: { parts: string[]; query: URLSearchParams }) => unknown
}

/** Paths without variables come first: `/deliveries/failures` is not a delivery. */
function routesOf(answers: ReturnType<typeof buildAnswers>): Route[] {
  return Object.entries(answers)
    .sort(([one], [other]) => one.split('{').length - other.split('{').length)
    .map(([path, answer]) => ({
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
      answer: answer as Route['answer'],
    }))
}

function visitOf({ headers: { cookie = '' } }: IncomingMessage) {
  const [, given = 'stale', role = 'operator'] = /stub=(\w+)\.(\w+)/.exec(cookie) ?? []
  const state = stubStates.find((each) => each === given) ?? 'stale'
  return { state, isOperator: role === 'operator' }
}

/** Requests of the frame of every page, answered alike in each state. */
function ownAnswer(pathname: string, isOperator: boolean): object | undefined {
  if (pathname === `${apiPath}/auth/me`) return { data: me(isOperator, permissionsOfOwner), meta }
  if (pathname === `${apiPath}/auth/sso`) return { data: { providers: [] }, meta }
  if (pathname === `${apiPath}/workspaces`) return toPage(new URLSearchParams(), 1, () => workspace)
  return undefined
}

function openStream(response: ServerResponse, streams: Set<ServerResponse>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(`retry: 1000\nid: ${eventAt(0).seq}\nevent: ready\ndata: {}\n\n`)
  streams.add(response)
  response.on('close', () => streams.delete(response))
}

async function sendKept(response: ServerResponse, kept: CachedDocument, headers: object = {}): Promise<void> {
  const { bytes } = await kept.bytesFor(undefined)
  response.writeHead(200, { ...headers, 'content-type': kept.contentType }).end(bytes)
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const sendError = (response: ServerResponse, status: number, code: string, message: string) =>
  sendJson(response, status, { error: { code, status, message, retryable: false, details: [] }, meta })
