import { type BuiltAssets, builtAssets, type CachedDocument } from '@opsplane/http'
import express, { type Request, type Router } from 'express'
import type { SendDocument } from '../document-sender.js'
import { assetPath, consoleHeaders, consolePage, consoleVersion, versionPath } from './page.js'

/** The build output of the package `console`. */
export const consoleAssets = (): BuiltAssets =>
  builtAssets(new URL('../../../../console/bundle/', import.meta.url))

/**
 * Serves the console: its assets, and its page at every other address outside the API to which a browser navigates.
 * Programs and scripts of a page get a 404 there.
 */
export function consoleRoutes(sendDocument: SendDocument, assets: BuiltAssets): Router {
  let page: CachedDocument | undefined
  let version: CachedDocument | undefined
  const router = express.Router({ caseSensitive: true })
  router.get(`${assetPath}:file`, async (request, response) => {
    const { document, headers = {} } = assets.file(String(request.params.file))
    await sendDocument(request, response, document, headers)
  })
  router.get(versionPath, async (request, response) => {
    version ??= consoleVersion(assets.list())
    await sendDocument(request, response, version, { 'Cache-Control': 'no-cache' })
  })
  router.use(async (request, response, next) => {
    if (!isVisit(request)) return next()
    page ??= consolePage(assets.list())
    await sendDocument(request, response, page, consoleHeaders)
  })
  return router
}

/**
 * Whether a browser navigates to an address outside the API. On an origin without TLS browsers send no Sec-Fetch-Mode,
 * so the Accept header decides.
 */
function isVisit({ method, path, headers }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (path === '/api' || path.startsWith('/api/') || path.startsWith(assetPath)) return false
  const { 'sec-fetch-mode': mode, accept = '' } = headers
  return mode === undefined ? accept.includes('text/html') : mode === 'navigate'
}
