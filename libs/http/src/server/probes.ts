import type { Logger } from '@opsplane/runtime'
import type { Express } from 'express'
import { type CachedDocument, cacheDocument, sendCachedDocument } from '../documents/cached-document.js'
import { stringifyInSlices } from '../documents/sliced-json.js'
import { sendError } from './errors.js'
import { beginExchange, send } from './exchange.js'
import { type Checks, notReady } from './readiness.js'

/** `/healthz`: the process answers. `/readyz`: all its dependencies are up. `/internal/openapi.json`: its operations. */
export function probes(
  app: Express,
  options: {
    log: Logger
    readiness: (() => Promise<Checks>) | undefined
    document: () => Promise<object>
  },
): void {
  const { log, readiness } = options
  app.get('/healthz', (req, res) => {
    send(beginExchange(req, res, '/healthz', log), { status: 200, body: { data: { status: 'live' } } })
  })

  app.get('/readyz', async (req, res) => {
    const exchange = beginExchange(req, res, '/readyz', log)
    try {
      const checks = (await readiness?.()) ?? {}
      if (Object.values(checks).some((state) => state !== 'up')) throw notReady(checks)
      send(exchange, { status: 200, body: { data: { status: 'ready', checks } } })
    } catch (error) {
      sendError(exchange, error)
    }
  })

  const describe = async () =>
    cacheDocument('application/json', await stringifyInSlices(await options.document()))
  let description: Promise<CachedDocument> | undefined
  app.get('/internal/openapi.json', async (req, res) => {
    const exchange = beginExchange(req, res, '/internal/openapi.json', log)
    try {
      description ??= describe()
      await sendCachedDocument(exchange, await description)
    } catch (error) {
      sendError(exchange, error)
    }
  })
}
