import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  type DeliveryChange,
  deliveryChangesPath,
  type ExecutionChange,
  executionChangesPath,
  type PlatformEvent,
} from '@opsplane/contracts'

/** Answers requests that do not concern the log: JSON, or a string sent verbatim. */
export type Answer = (request: { path: string; body: unknown }) => unknown

/** A stand-in for the other services: their logs and other responses. */
export interface LogServer {
  url: string
  /** In log order. */
  events: PlatformEvent[]
  /** In order of change. */
  deliveries: DeliveryChange[]
  executions: ExecutionChange[]
  answer: Answer
  stop(): Promise<void>
}

export async function startLogServer(): Promise<LogServer> {
  const server: LogServer = {
    url: '',
    events: [],
    deliveries: [],
    executions: [],
    answer: () => undefined,
    stop,
  }
  const http = createServer(async (request, response) => {
    const data =
      readEventPage(server.events, request) ??
      readChangePage(server, request) ??
      server.answer(await readRequest(request))
    const meta = { requestId: 'request-1' }
    response.writeHead(data === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(typeof data === 'string' ? data : JSON.stringify({ data, meta }))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  server.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

  async function stop() {
    http.close()
    http.closeAllConnections()
    await once(http, 'close')
  }
  return server
}

async function readRequest(request: IncomingMessage) {
  const body = await text(request)
  return { path: request.url ?? '', body: body === '' ? undefined : JSON.parse(body) }
}

const maxEvents = 100

function readEventPage(events: readonly PlatformEvent[], { url = '' }: IncomingMessage) {
  if (url === '/internal/events/end') return { position: events.length }
  if (!url.startsWith('/internal/events?')) return undefined
  const after = Number(new URLSearchParams(url.split('?')[1]).get('after'))
  const page = events.slice(after, after + maxEvents)
  const next = after + maxEvents < events.length ? after + maxEvents : null
  return { events: page.map((event, index) => ({ position: after + index + 1, event })), next }
}

const maxChanges = 10

/** Returns only the latest state of a row that changed more than once, as the real endpoint does. */
function readChangePage({ deliveries, executions }: LogServer, { url = '' }: IncomingMessage) {
  const [path, query] = url.split('?')
  const all = { [deliveryChangesPath]: deliveries, [executionChangesPath]: executions }[path ?? '']
  if (!all) return undefined
  const after = Number(new URLSearchParams(query).get('after'))
  const present = all
    .map((change, index) => ({ position: index + 1, change }))
    .filter(
      ({ position, change }) => position > after && !all.slice(position).some(({ id }) => id === change.id),
    )
  const changes = present.slice(0, maxChanges)
  return { changes, next: changes.length < present.length ? changes.at(-1)?.position : null }
}
