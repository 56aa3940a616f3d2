import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import express, { type RequestHandler, type Router } from 'express'
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

/** The API reference page and the files it needs, mounted at /api/v1/docs. */
export function docsRoutes(): Router {
  const cached: RequestHandler = (_request, response, next) => {
    response.setHeader('Cache-Control', 'public, max-age=3600')
    next()
  }
  const router = express.Router()
  router.use(contentSecurityPolicy)
  router.get('/', (_request, response) => {
    response.setHeader('Cache-Control', 'no-cache')
    response.sendFile('index.html', { root: page })
  })
  for (const name of ['docs.css', 'docs.js']) {
    router.get(`/${name}`, cached, (_request, response) => response.sendFile(name, { root: page }))
  }
  for (const name of swaggerAssets) {
    router.get(`/${name}`, cached, (_request, response) => response.sendFile(name, { root: swaggerUi }))
  }
  return router
}
