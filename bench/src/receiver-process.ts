import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

/**
 * An HTTPS receiver in a process of its own. Answers 204 and keeps, per delivery, how long after its event it
 * arrived; a `report` message is answered with all of that and starts a new count.
 */
let latencies: number[] = []
const server = createServer(
  { key: readFileSync(process.env.TLS_KEY ?? ''), cert: readFileSync(process.env.TLS_CERT ?? '') },
  (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const arrivedAt = Date.now()
      response.writeHead(204).end()
      const text = Buffer.concat(chunks).toString('latin1')
      const timestamp = /"timestamp":"([^"]+)"/.exec(text)?.[1]
      latencies.push(timestamp ? arrivedAt - Date.parse(timestamp) : 0)
    })
  },
)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
process.on('message', (message) => {
  if (message === 'count') process.send?.({ count: latencies.length })
  if (message === 'report') {
    process.send?.({ latencies })
    latencies = []
  }
})
