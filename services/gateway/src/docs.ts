import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CachedDocument, cacheDocument, methodNotAllowed } from '@opsplane/http'
import express, { type RequestHandler, type Router } from 'express'
import type { SendDocument } from './document-sender.js'

const page = new URL('../docs-page/', import.meta.url)
const swaggerUi = new URL(
  './',
  pathToFileURL(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
)

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
}

/** Everything comes from here: no inline script or style, nothing from elsewhere, no framing. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "font-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "script-src 'self'",
  "style-src 'self'",
].join(';')

/** Ends a route of what is only read: any other method, TRACE included, is a 405. */
export const onlyReads: RequestHandler = ({ method }) => {
  throw methodNotAllowed(method, ['GET'])
}

/** The API reference page and the files it needs, mounted at /api/v1/docs. */
export function docsRoutes(sendDocument: SendDocument): Router {
  const router = express.Router()
  const serve = (path: string, file: URL, cacheControl: string) => {
    let kept: Promise<CachedDocument> | undefined
    const headers = { 'Cache-Control': cacheControl, 'Content-Security-Policy': contentSecurityPolicy }
    router
      .route(path)
      .get(async (request, response) => {
        kept ??= keepFile(file)
        await sendDocument(request, response, await kept, headers)
      })
      .all(onlyReads)
  }
  serve('/', new URL('index.html', page), 'no-cache')
  for (const name of ['docs.css', 'docs.js']) serve(`/${name}`, new URL(name, page), forAnHour)
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'])
    serve(`/${name}`, new URL(name, swaggerUi), forAnHour)
  return router
}

const forAnHour = 'public, max-age=3600'

async function keepFile(file: URL): Promise<CachedDocument> {
  return cacheDocument(
    contentTypes[extname(file.pathname)] ?? 'application/octet-stream',
    await readFile(file),
  )
}
