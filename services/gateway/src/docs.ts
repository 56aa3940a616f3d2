import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ApiError } from '@opsplane/contracts'
import { methodNotAllowed } from '@opsplane/http'
import express, { type ErrorRequestHandler, type RequestHandler, type Response, type Router } from 'express'
import helmet from 'helmet'

const page = fileURLToPath(new URL('../docs-page', import.meta.url))
const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
const swaggerAssets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']

/** Everything comes from here: no inline script or style, nothing from elsewhere, no framing. */
const contentSecurityPolicy = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      connectSrc: ["'self'"],
      fontSrc: ["'self'", 'data:'],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      imgSrc: ["'self'", 'data:'],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
    },
  },
})

/** Ends a route of what is only read: any other method, TRACE included, is a 405. */
export const onlyReads: RequestHandler = ({ method }) => {
  throw methodNotAllowed(method, ['GET'])
}

/** The API reference page and the files it needs, mounted at /api/v1/docs. */
export function docsRoutes(): Router {
  const cached: RequestHandler = (_request, response, next) => {
    response.setHeader('Cache-Control', 'public, max-age=3600')
    next()
  }
  const router = express.Router()
  router.use(contentSecurityPolicy)
  const get = (path: string, ...handlers: RequestHandler[]) =>
    router
      .route(path)
      .get(...handlers)
      .all(onlyReads)
  get('/', (_request, response) => {
    response.setHeader('Cache-Control', 'no-cache')
    sendFile(response, 'index.html', page)
  })
  for (const name of ['docs.css', 'docs.js']) {
    get(`/${name}`, cached, (_request, response) => sendFile(response, name, page))
  }
  for (const name of swaggerAssets) {
    get(`/${name}`, cached, (_request, response) => sendFile(response, name, swaggerUi))
  }
  router.use(preconditionFailed)
  return router
}

/** Whole, as a part that does not exist would be an error that the API has no code for. */
function sendFile(response: Response, name: string, root: string): void {
  response.sendFile(name, { root, acceptRanges: false })
}

const preconditionFailed: ErrorRequestHandler = (error, _request, _response, next) => {
  const failed = error instanceof Error && 'status' in error && error.status === 412
  next(
    failed ? new ApiError('precondition_failed', 'The page is another one by now.', { cause: error }) : error,
  )
}
