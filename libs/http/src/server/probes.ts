import { ApiError } from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import type { Express } from 'express'
import { type KeptDocument, keepDocument, sendKept } from '../documents/kept-document.js'
import { slicedJson } from '../documents/sliced-json.js'
import { sendError } from './errors.js'
import { beginExchange, send } from './exchange.js'

/** `/healthz`: the process answers. `/readyz`: everything it needs is up. `/internal/openapi.json`: its operations. */
export function probes(
  app: Express,
  options: {
    log: Logger
    readiness: (() => Promise<Record<string, string>>) | undefined
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
      const down = Object.entries(checks).filter(([, state]) => state !== 'up')
      if (down.length > 0) throw notReady(down)
      send(exchange, { status: 200, body: { data: { status: 'ready', checks } } })
    } catch (error) {
      sendError(exchange, error)
    }
  })

  const describe = async () => keepDocument('application/json', await slicedJson(await options.document()))
  let description: Promise<KeptDocument> | undefined
  app.get('/internal/openapi.json', async (req, res) => {
    const exchange = beginExchange(req, res, '/internal/openapi.json', log)
    try {
      description ??= describe()
      await sendKept(exchange, await description)
    } catch (error) {
      sendError(exchange, error)
    }
  })
}

function notReady(down: [string, string][]): ApiError {
  const list = down.map(([name, state]) => `${name} (${state})`).join(', ')
  return new ApiError('service_unavailable', `Not ready: ${list}.`)
}
