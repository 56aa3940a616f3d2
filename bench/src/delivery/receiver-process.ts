import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'

/**
 * A receiver in a separate process; HTTPS unless it gets no certificate. Answers 204 and records for each delivery
 * the time from its event to its arrival. The reply to a `report` message contains all of these and resets the
 * count.
 *
 * Paths under `/tarpit/` are endpoints whose arrivals are not included. Between a `hold` message and a `let go`
 * message they read every request and answer none.
 */
let latencies: number[] = []
let events = new Set<string>()
let lastAt = 0
let isHolding = false
const pendingResponses = new Set<ServerResponse>()
let tarpit = emptyTarpit()

const { TLS_KEY: keyFile, TLS_CERT: certFile } = process.env
const server =
  keyFile && certFile
    ? createHttpsServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, receive)
    : createHttpServer(receive)

function receive(request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const arrivedAt = performance.timeOrigin + performance.now()
    if (request.url?.startsWith('/tarpit/') && isHolding) return holdRequest(request.url, response)
    response.writeHead(204).end()
    if (request.url?.startsWith('/tarpit/')) return
    const text = Buffer.concat(chunks).toString('latin1')
    const timestamp = /"timestamp":"([^"]+)"/.exec(text)?.[1]
    latencies.push(timestamp ? arrivedAt - Date.parse(timestamp) : 0)
    events.add(String(request.headers['x-service-delivery']))
    lastAt = arrivedAt
  })
}

function emptyTarpit() {
  return { requests: 0, heldAtMost: 0, endpoints: new Set<string>() }
}

/** Holds the request until the client gives up or a `let go` message arrives. */
function holdRequest(path: string, response: ServerResponse) {
  pendingResponses.add(response)
  response.on('close', () => pendingResponses.delete(response))
  tarpit.requests++
  tarpit.endpoints.add(path)
  tarpit.heldAtMost = Math.max(tarpit.heldAtMost, pendingResponses.size)
}

function answerPending() {
  for (const response of pendingResponses) response.writeHead(204).end()
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
process.on('message', (message) => {
  if (message === 'count') process.send?.({ count: latencies.length, events: events.size, lastAt })
  if (message === 'hold' || message === 'let go') {
    isHolding = message === 'hold'
    if (!isHolding) answerPending()
    process.send?.({ holding: isHolding })
  }
  if (message === 'report') {
    process.send?.({ latencies, tarpit: { ...tarpit, endpoints: tarpit.endpoints.size } })
    latencies = []
    events = new Set()
    tarpit = emptyTarpit()
  }
})
// The parent process has ended.
process.on('disconnect', () => process.exit())
