import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import {
  ApiError,
  browserSignIn,
  defaultRouteRule,
  errorBody,
  type Principal,
  type RouteTable,
  ssoCallback,
  ssoStart,
} from '@opsplane/contracts'
import { createInternalVerifier, generateServiceKeys, type InternalVerifier } from '@opsplane/http'
import { createLogger, type RunningService } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { z } from 'zod'
import type { GatewayConfig } from '../config.js'
import { gateway as gatewayService } from '../service.js'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A service behind the gateway: a real HTTP server that answers as the test wants. */
export interface Upstream {
  url: string
  port: number
  /** Requests received, in order. */
  requests: IncomingMessage[]
  handler: Handler
  /** What it tells the gateway of its routes. */
  routes: RouteTable['routes']
  close(): Promise<void>
}

/** Answers with what arrived. */
export const echo: Handler = async (request, response) => {
  // A request that the gateway aborted needs no answer.
  const body = await text(request).catch(() => null)
  if (body === null) return
  const answer = { method: request.method, url: request.url, headers: request.headers, body }
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ data: answer }))
}

/** Unless a port is given, at one that nothing takes while the service is away. */
export async function startUpstream(
  handler: Handler = echo,
  wantedPort?: number,
  routes: Upstream['routes'] = [],
): Promise<Upstream> {
  const port = wantedPort ?? (await freePort())
  const server = createServer((request, response) => {
    if (request.url === '/internal/routes') {
      response.end(JSON.stringify({ data: { routes: upstream.routes }, meta: { requestId: 'req_upstream' } }))
      return
    }
    upstream.requests.push(request)
    upstream.handler(request, response)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const upstream: Upstream = {
    url: `http://127.0.0.1:${port}`,
    port,
    requests: [],
    handler,
    routes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return upstream
}

export const ada: Principal = {
  actor: { id: 'usr_ada', name: 'Ada', type: 'user' },
  userId: 'usr_ada',
  tokenId: 'ses_ada',
  workspaceId: 'ws_acme',
  workspaceSlug: 'acme',
  environment: 'production',
  permissions: ['itsm:read'],
}

const VerifyRequest = z.strictObject({
  token: z.string(),
  workspace: z.string().optional(),
  environment: z.string(),
})
export type VerifyRequest = z.infer<typeof VerifyRequest>

/** Accepts any token that starts with `good`, `ops_good` or `ops_web_good`, in the workspace acme, not in staging. */
export const defaultVerify = ({ token, workspace, environment }: VerifyRequest): Principal => {
  if (token === 'expired') throw new ApiError('token_expired', 'The token has expired.')
  if (!/^(?:ops_(?:web_)?)?good/.test(token)) throw new ApiError('invalid_token', 'The token is not valid.')
  if (workspace !== undefined && workspace !== 'acme') {
    throw new ApiError('workspace_forbidden', 'The token has no access to this workspace.')
  }
  if (environment === 'staging') throw new ApiError('environment_forbidden', 'Not in this environment.')
  const { workspaceId, workspaceSlug, ...person } = ada
  return workspace === undefined ? person : { ...person, workspaceId, workspaceSlug }
}

const route = (
  method: string,
  path: string,
  rule: Partial<RouteTable['routes'][number]> = {},
): RouteTable['routes'][number] => ({
  ...defaultRouteRule,
  permission: null,
  operationId: `${method} ${path}`,
  method,
  path,
  ...rule,
})

export const settingsRoutes = [
  route('post', '/auth/token', { access: 'public' }),
  route('post', '/auth/session', { access: 'public', operationId: browserSignIn }),
  route('post', '/auth/sso/start', { access: 'public', operationId: ssoStart, waits: true }),
  route('get', '/auth/sso/:providerId/callback', { access: 'public', operationId: ssoCallback, waits: true }),
  route('post', '/auth/logout', { access: 'account' }),
  route('post', '/auth/invitations/accept', { access: 'public' }),
  route('get', '/auth/me', { access: 'account' }),
  route('get', '/workspaces', { access: 'account' }),
  route('post', '/workspaces'),
  route('get', '/audit/export', { waits: true }),
]
export const itsmRoutes = [
  route('get', '/itsm/incidents'),
  route('post', '/itsm/incidents'),
  route('post', '/itsm/guests', { access: 'guest' }),
  route('post', '/knowledge/articles', { bodyLimitBytes: 2 * 1024 * 1024 }),
]
export const dispatcherRoutes = [
  route('get', '/events/topics/:name/events', { waits: true }),
  route('get', '/events/catalog', { access: 'account' }),
  route('get', '/events/catalog/:type', { access: 'account' }),
]

export interface TestPlatform {
  url: string
  gateway: RunningService
  settings: Upstream
  itsm: Upstream
  dispatcher: Upstream
  /** What settings was asked about tokens. */
  questions: VerifyRequest[]
  /** What it was asked about those of answers that go on, a list each time. */
  confirmed: VerifyRequest[][]
  /** How settings answers about tokens. */
  verify: (question: VerifyRequest) => Principal | Promise<Principal>
  /** Reads what the gateway tells a service about its caller. */
  verifierOf(service: string): InternalVerifier
  /** Moves the gateway's clock. */
  pass(ms: number): void
  stop(): Promise<void>
}

/**
 * A gateway with three services behind it, all over real sockets, on a clock that only `pass` moves. `urls` name other
 * addresses for some of them.
 */
export async function startPlatform(
  overrides: Partial<GatewayConfig> = {},
  urls: Record<string, string> = {},
): Promise<TestPlatform> {
  const keys = generateServiceKeys()
  let now = 0
  const answer: Handler = (request, response) => {
    if (request.url === '/internal/tokens/verify') void answerQuestion(platform, request, response)
    else if (request.url === '/internal/tokens/confirm') void confirmAll(platform, request, response)
    else echo(request, response)
  }
  const settings = await startUpstream(answer, undefined, settingsRoutes)
  const itsm = await startUpstream(echo, undefined, itsmRoutes)
  const dispatcher = await startUpstream(echo, undefined, dispatcherRoutes)
  const config = gatewayService.loadConfig({
    NATS_URL: 'nats://127.0.0.1:9',
    LOG_LEVEL: 'silent',
    SERVICE_PRIVATE_KEY: keys.privateKey,
    TRUSTED_SERVICE_KEYS: '{}',
    SERVICE_URLS: JSON.stringify({
      settings: settings.url,
      itsm: itsm.url,
      dispatcher: dispatcher.url,
      ...urls,
    }),
    // What is answered then says nothing of bytes.
    ANSWER_BYTES_PER_MINUTE: '0',
  })
  const log = createLogger({ service: 'gateway', level: 'silent' })
  const gateway = await gatewayService.start({ ...config, ...overrides }, { log, monotonicMs: () => now })
  const platform: TestPlatform = {
    url: gateway.url,
    gateway,
    settings,
    itsm,
    dispatcher,
    questions: [],
    confirmed: [],
    verify: defaultVerify,
    verifierOf: (service) => createInternalVerifier({ service, trustedKeys: { gateway: keys.publicKey } }),
    pass: (ms) => {
      now += ms
    },
    stop: async () => {
      await gateway.stop()
      const { settings, itsm, dispatcher } = platform
      await Promise.all([settings.close(), itsm.close(), dispatcher.close()])
    },
  }
  return platform
}

async function answerQuestion(platform: TestPlatform, request: IncomingMessage, response: ServerResponse) {
  const question = VerifyRequest.parse(JSON.parse(await text(request)))
  platform.questions.push(question)
  const meta = { requestId: 'req_settings' }
  try {
    const principal = await platform.verify(question)
    response.end(JSON.stringify({ data: { principal, expiresAt: null }, meta }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    response.writeHead(error.status).end(JSON.stringify(errorBody(error, meta.requestId)))
  }
}

/** The permissions of each token, as `verify` has them. */
async function confirmAll(platform: TestPlatform, request: IncomingMessage, response: ServerResponse) {
  const { questions } = z.object({ questions: z.array(VerifyRequest) }).parse(JSON.parse(await text(request)))
  platform.confirmed.push(questions)
  const permissions: (readonly string[])[] = []
  const answers: (number | null)[] = []
  for (const question of questions) {
    const principal = await Promise.resolve(question)
      .then(platform.verify)
      .catch(() => null)
    answers.push(principal && permissions.push(principal.permissions) - 1)
  }
  response.end(JSON.stringify({ data: { permissions, answers }, meta: { requestId: 'req_settings' } }))
}

const Envelope = z.looseObject({
  data: z.looseObject({}).optional(),
  error: z.looseObject({ code: z.string(), status: z.number(), details: z.array(z.unknown()) }).optional(),
  meta: z.looseObject({ requestId: z.string() }).optional(),
})

export interface Reply {
  status: number
  headers: Headers
  /** Error code of the envelope. */
  code: string | undefined
  body: z.infer<typeof Envelope>
}

/** Headers of a valid caller. */
export const asAda = { Authorization: 'Bearer good', 'X-Workspace': 'acme' }

/** Calls the gateway and parses the envelope. */
export async function call(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const body = Envelope.parse(await response.json())
  return { status: response.status, headers: response.headers, code: body.error?.code, body }
}
