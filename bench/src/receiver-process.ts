import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'

/**
 * An HTTPS receiver in a process of its own. Answers 204 and keeps, per delivery, how long after its event it
 * arrived; a `report` message is answered with all of that and starts a new count.
 *
 * Paths under `/tarpit/` are endpoints whose arrivals are not among those. From a `hold` message to a `let go`
 * message they read every request and answer none.
 */
let latencies: number[] = []
let holding = false
const held = new Set<ServerResponse>()
let tarpit = nothingHeld()

const server = createServer(
  { key: readFileSync(process.env.TLS_KEY ?? ''), cert: readFileSync(process.env.TLS_CERT ?? '') },
  (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const arrivedAt = Date.now()
      if (request.url?.startsWith('/tarpit/') && holding) return hold(request.url, response)
      response.writeHead(204).end()
      if (request.url?.startsWith('/tarpit/')) return
      const text = Buffer.concat(chunks).toString('latin1')
      const timestamp = /"timestamp":"([^"]+)"/.exec(text)?.[1]
      latencies.push(timestamp ? arrivedAt - Date.parse(timestamp) : 0)
    })
  },
)

function nothingHeld() {
  return { requests: 0, heldAtMost: 0, endpoints: new Set<string>() }
}

/** Until the caller gives up, or everything is let go. */
function hold(path: string, response: ServerResponse) {
  held.add(response)
  response.on('close', () => held.delete(response))
  tarpit.requests++
  tarpit.endpoints.add(path)
  tarpit.heldAtMost = Math.max(tarpit.heldAtMost, held.size)
}

function letGo() {
  for (const response of held) response.writeHead(204).end()
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
process.on('message', (message) => {
  if (message === 'count') process.send?.({ count: latencies.length })
  if (message === 'hold' || message === 'let go') {
    holding = message === 'hold'
    if (!holding) letGo()
    process.send?.({ holding })
  }
  if (message === 'report') {
    process.send?.({ latencies, tarpit: { ...tarpit, endpoints: tarpit.endpoints.size } })
    latencies = []
    tarpit = nothingHeld()
  }
})
// Whoever started it is gone.
process.on('disconnect', () => process.exit())
