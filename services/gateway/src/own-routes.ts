import type { IncomingMessage } from 'node:http'
import {
  beginExchange,
  clientTls,
  type InternalTls,
  notReady,
  routeNotFound,
  securityHeaders,
  send,
  sendError,
} from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express'
import { Agent } from 'undici'
import type { GatewayConfig } from './config.js'
import { consoleAssets, consoleRoutes } from './console/routes.js'
import { docsRoutes, onlyReads } from './docs.js'
import { createDocumentSender } from './document-sender.js'
import { createOpenApiSource } from './openapi.js'
import type { RateLimiter } from './rate-limit.js'
import { createReadiness } from './readiness.js'
import { apiPrefix } from './target.js'

export interface OwnRoutesOptions {
  config: GatewayConfig
  /** TLS settings for calls to services, if they use https. */
  tls: InternalTls | undefined
  monotonicMs: () => number
  clientAddress(request: IncomingMessage): string
  /** Counts the bytes of documents sent. */
  anonymousBytes: Pick<RateLimiter, 'check' | 'spend'>
  /** Problems that the operator should fix. */
  warnings(): string[]
  log: Logger
}

/** The routes of the gateway itself: health, the OpenAPI document, the docs page, the console, and unknown routes. */
export function createOwnRoutes(options: OwnRoutesOptions): express.Express {
  const { config, log, tls } = options
  const agent = new Agent({ connect: clientTls(tls) })
  const source = createOpenApiSource({
    serviceUrls: config.serviceUrls,
    origin: config.publicOrigin,
    agent,
    ...options,
  })
  const readiness = createReadiness(config.serviceUrls, agent, options.monotonicMs)
  const sendDocument = createDocumentSender(options)
  const answer = (request: Request, response: Response, data: object) =>
    send(beginExchange(request, response, request.path, log), { status: 200, body: { data } })

  const app = express()
  app.disable('x-powered-by')
  app.set('query parser', false)
  app.enable('case sensitive routing')

  const get = (path: string, handler: RequestHandler) => {
    app.route(path).get(withHeaders, handler).all(onlyReads)
  }
  get('/healthz', (request, response) => answer(request, response, { status: 'live' }))
  get('/readyz', async (request, response) => {
    const checks = await readiness()
    // Only settings is indispensable: without it no token can be verified. Other unavailable
    // services only affect their own routes.
    const warnings = options.warnings()
    if (checks.settings !== 'up') throw notReady(checks, warnings)
    answer(request, response, { status: 'ready', checks, warnings })
  })
  for (const format of ['json', 'yaml'] as const) {
    get(`${apiPrefix}/openapi.${format}`, async (request, response) => {
      await sendDocument(request, response, await source.document(format), { 'Cache-Control': 'no-cache' })
    })
  }
  app.use(`${apiPrefix}/docs`, withHeaders, docsRoutes(sendDocument))
  app.use(withHeaders, consoleRoutes(sendDocument, consoleAssets()))
  // Programs are redirected to the API reference.
  get('/', (_request, response) => response.redirect(302, `${apiPrefix}/docs`))
  app.use((request) => {
    const { method, path } = request
    throw routeNotFound(method, path.startsWith(`${apiPrefix}/`) ? path.slice(apiPrefix.length) : path)
  })
  app.use(answerError(log))
  return app
}

/** The proxy has already set the request id. */
const withHeaders: RequestHandler = (request, response, next) => {
  response.set({ ...securityHeaders, 'X-Request-ID': request.get('X-Request-ID') })
  next()
}

const answerError =
  (log: Logger): ErrorRequestHandler =>
  (error, request, response, _next) =>
    sendError(beginExchange(request, response, 'gateway', log), error)
