import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type CachedDocument, cacheDocument, methodNotAllowed } from '@opsplane/http'
import { sha256Hex } from '@opsplane/runtime'
import express, { type RequestHandler, type Router } from 'express'
import type { SendDocument } from './document-sender.js'

const page = new URL('../docs-page/', import.meta.url)
const swaggerUi = new URL(
  './',
  pathToFileURL(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')),
)

const htmlType = 'text/html; charset=utf-8'
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
}

/**
 * Allows only resources of this origin, and images and fonts in `data:` URLs: no inline scripts or styles, no other
 * origins, no framing.
 */
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

/** Rejects all other methods of a read-only route, including TRACE, with 405. */
export const onlyReads: RequestHandler = ({ method }) => {
  throw methodNotAllowed(method, ['GET'])
}

/** The API reference page and the files it needs, mounted at /api/v1/docs. */
export function docsRoutes(sendDocument: SendDocument): Router {
  const router = express.Router()
  const files = new Map<string, Promise<KeptFile>>()
  const keep = (name: string) => {
    const kept = files.get(name) ?? keepFile(new URL(name, ownFiles.includes(name) ? page : swaggerUi), keep)
    files.set(name, kept)
    return kept
  }
  let html: Promise<CachedDocument> | undefined
  const serve = (
    path: string,
    find: (query: string) => Promise<{ document: CachedDocument; cacheControl: string }>,
  ) =>
    router
      .route(path)
      .get(async (request, response) => {
        const { document, cacheControl } = await find(request.url.split('?')[1] ?? '')
        const headers = { 'Cache-Control': cacheControl, 'Content-Security-Policy': contentSecurityPolicy }
        await sendDocument(request, response, document, headers)
      })
      .all(onlyReads)
  serve('/', async () => {
    html ??= buildPage(keep)
    return { document: await html, cacheControl: 'no-cache' }
  })
  for (const name of [...ownFiles, ...swaggerFiles])
    serve(`/${name}`, async (query) => {
      const { document, hash } = await keep(name)
      return { document, cacheControl: query === hash ? immutable : forAnHour }
    })
  return router
}

const ownFiles = ['docs.css', 'docs.js', 'topics.js']
const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']
const forAnHour = 'public, max-age=3600'
/** For addresses that contain the hash of the content, as used by the page. */
const immutable = 'public, max-age=31536000, immutable'

interface KeptFile {
  document: CachedDocument
  hash: string
}

/** Files imported by another one are named with the hash of their content, too. */
async function keepFile(file: URL, keep: (name: string) => Promise<KeptFile>): Promise<KeptFile> {
  let bytes = await readFile(file)
  if (file.pathname.endsWith('/docs.js')) {
    const { hash } = await keep('topics.js')
    bytes = Buffer.from(bytes.toString().replace("'./topics.js'", `'./topics.js?${hash}'`))
  }
  const contentType = contentTypes[extname(file.pathname)] ?? 'application/octet-stream'
  return { document: cacheDocument(contentType, bytes), hash: sha256Hex(bytes).slice(0, 16) }
}

/** The page, which names each file with the hash of its content. */
async function buildPage(keep: (name: string) => Promise<KeptFile>): Promise<CachedDocument> {
  let text = await readFile(new URL('index.html', page), 'utf8')
  for (const name of [...ownFiles, ...swaggerFiles])
    text = text.replaceAll(`/api/v1/docs/${name}"`, `/api/v1/docs/${name}?${(await keep(name)).hash}"`)
  return cacheDocument(htmlType, Buffer.from(text))
}
