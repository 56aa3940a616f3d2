import { ApiError } from '@opsplane/contracts'
import { mergeOpenApi, securityHeaders } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import { stringify } from 'yaml'
import type { GatewayConfig } from './config.js'
import { docsRoutes } from './docs.js'
import { createOpenApiSource } from './openapi.js'
import { ownDocument } from './own-document.js'
import { readServices } from './readiness.js'
import { sendError } from './send-error.js'
import { apiPrefix } from './target.js'

export interface OwnRoutesOptions {
  config: GatewayConfig
  monotonicMs: () => number
  log: Logger
}

/** What the gateway answers itself: health, the OpenAPI document, the docs page, and unknown routes. */
export function createOwnRoutes(options: OwnRoutesOptions): express.Express {
  const { config, log } = options
  const source = openApiSource(options)
  const merged = async (request: Request) =>
    mergeOpenApi([ownDocument, ...(await source.documents())], {
      servers: [{ url: `${publicOrigin(config, request)}${apiPrefix}` }],
    })

  const app = express()
  app.disable('x-powered-by')
  app.set('query parser', false)
  app.use((request, response, next) => {
    response.set({ ...securityHeaders, 'X-Request-ID': requestIdOf(request) })
    next()
  })

  const get = (path: string, handler: RequestHandler) => {
    app.route(path).get(handler).all(methodNotAllowed)
  }
  get('/', (_request, response) => response.redirect(302, `${apiPrefix}/docs`))
  get('/healthz', (request, response) => {
    response.json({ data: { status: 'live' }, meta: { requestId: requestIdOf(request) } })
  })
  get('/readyz', async (request, response) => {
    const checks = await readServices(config.serviceUrls)
    // Only settings is indispensable: without it nobody gets in. The others fail on their own routes.
    if (checks.settings !== 'up') throw notReady(checks)
    response.json({ data: { status: 'ready', checks }, meta: { requestId: requestIdOf(request) } })
  })
  get(`${apiPrefix}/openapi.json`, async (request, response) => {
    response.json(await merged(request))
  })
  get(`${apiPrefix}/openapi.yaml`, async (request, response) => {
    response.type('application/yaml').send(stringify(await merged(request), { aliasDuplicateObjects: false }))
  })
  app.use(`${apiPrefix}/docs`, docsRoutes())
  app.use((request) => {
    throw new ApiError('route_not_found', `There is no ${request.method} ${request.path}.`)
  })
  app.use(answerError(log))
  return app
}

function openApiSource({ config, monotonicMs, log }: OwnRoutesOptions) {
  const urls = new Map(
    Object.entries(config.serviceUrls).map(([name, url]) => [name, new URL('/internal/openapi.json', url)]),
  )
  return createOpenApiSource({ urls, monotonicMs, log })
}

/** Without a configured origin, the one this client asked, which only this client's answer then names. */
function publicOrigin(config: GatewayConfig, request: Request): string {
  return config.publicOrigin ?? `http://${request.headers.host ?? `${config.host}:${config.port}`}`
}

/** The door has settled it by the time a request comes here. */
const requestIdOf = (request: Request) => String(request.headers['x-request-id'] ?? '')

function notReady(checks: Record<string, string>): ApiError {
  const down = Object.entries(checks).filter(([, state]) => state !== 'up')
  const list = down.map(([name, state]) => `${name} ${state}`).join(', ')
  return new ApiError('service_unavailable', `Not ready: ${list}.`)
}

const methodNotAllowed: RequestHandler = (request) => {
  throw new ApiError('method_not_allowed', `${request.path} only knows GET.`, {
    headers: { Allow: 'GET, HEAD' },
  })
}

function answerError(log: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    if (!(error instanceof ApiError)) log.error({ err: error }, 'could not answer')
    sendError(response, error, { 'x-request-id': requestIdOf(request) })
  }
}
