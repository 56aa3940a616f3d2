import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock, Logger } from '@opsplane/runtime'
import { type Metrics, noMetrics, noTracing, type Tracing } from '@opsplane/telemetry'
import express from 'express'
import type { InternalVerifier } from '../calls/internal-token.js'
import { isFeed, keepFeeds } from '../links/feeds.js'
import { openApiDocument } from '../openapi/openapi.js'
import type { Route } from '../route/route.js'
import { checkRoutes, RouteTree, routeNotFound } from '../route/routing.js'
import { sendError } from './errors.js'
import { beginExchange } from './exchange.js'
import { Idempotency, type IdempotencyStore } from './idempotency.js'
import { probes } from './probes.js'
import { noOperation, requestRecorders } from './request-metrics.js'
import { type RouteHandler, routeHandler } from './serve.js'

export interface AppOptions {
  service: string
  routes: readonly Route[]
  /** Absent only if no route needs a login: every caller is then anonymous. */
  verifier?: InternalVerifier
  /** If absent, an Idempotency-Key has no effect. */
  idempotency?: IdempotencyStore
  log: Logger
  clock: Clock
  /** If absent, no metrics are recorded. */
  metrics?: Metrics
  tracing?: Tracing
  /** State of each dependency: `up`, or a description of the problem. */
  readiness?: () => Promise<Record<string, string>>
  /** Whether responses that violate their schema become a 500. Default: if NODE_ENV is `test`. */
  checkResponses?: boolean
  /** Converts errors of lower layers to ApiErrors before they are mapped. */
  translateError?: (error: unknown) => unknown
}

/** The Express app of a service: its routes, `/healthz`, `/readyz` and `/internal/openapi.json`. */
export function createApp(options: AppOptions): express.Express {
  const { routes, log } = options
  checkRoutes(routes, options.verifier !== undefined)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', false)

  const translate = options.translateError ?? ((error: unknown) => error)
  const context = {
    routes,
    verifier: options.verifier,
    idempotency: options.idempotency && new Idempotency(options.idempotency, log),
    log,
    clock: options.clock,
    checkResponses: options.checkResponses ?? process.env.NODE_ENV === 'test',
    translate,
    tracing: options.tracing ?? noTracing,
    recorderFor: requestRecorders(options.metrics ?? noMetrics),
  }
  const tree = new RouteTree<RouteHandler>()
  const feeds = new RouteTree<RouteHandler>()
  for (const route of routes) {
    const handler = routeHandler(route, context)
    tree.add(route.method, route.path, handler)
    if (isFeed(route)) feeds.add(route.method, route.path, handler)
  }

  app.use((req, res, next) => {
    const found = tree.find(req.method, req.path)
    if (found) found.target(req, res, found.params)
    else next()
  })
  probes(app, { log, readiness: options.readiness, document: () => openApiDocument(options.service, routes) })

  const failed = (req: IncomingMessage, res: ServerResponse, error: unknown) => {
    const exchange = beginExchange(req, res, 'none', log)
    exchange.record = context.recorderFor(noOperation, req.method ?? '')
    sendError(exchange, error)
  }
  app.use((req, res) => failed(req, res, routeNotFound(req.method, req.path)))
  app.use((error: unknown, req: express.Request, res: express.Response, _next: express.NextFunction) =>
    failed(req, res, translate(error)),
  )
  if (options.verifier) keepFeeds(app, { verifier: options.verifier, serve: feedHandler(feeds, failed) })
  return app
}

/** Handles requests that arrive over a link, all of which are feeds. */
function feedHandler(
  feeds: RouteTree<RouteHandler>,
  failed: (req: IncomingMessage, res: ServerResponse, error: unknown) => void,
) {
  return (req: IncomingMessage, res: ServerResponse) => {
    const path = (req.url ?? '').replace(/\?.*$/, '')
    try {
      const found = feeds.find('GET', path)
      if (!found) throw routeNotFound('GET', path)
      found.target(req as express.Request, res as express.Response, found.params)
    } catch (error) {
      failed(req, res, error)
    }
  }
}
