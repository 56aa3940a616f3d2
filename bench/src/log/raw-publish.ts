import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { parseServerUrl } from '@opsplane/nats'
import express from 'express'

/**
 * Raw limit of a topic publish: Express, a JSON body, one acknowledged JetStream publish. No authentication, no
 * validation. Runs as a separate process.
 */
const connection = await connect(parseServerUrl(process.env.NATS_URL ?? ''))
const manager = await jetstreamManager(connection)
await manager.streams.add({ name: 'RAW', subjects: ['raw.>'] })
const js = jetstream(connection)

const app = express()
app.disable('x-powered-by')
app.disable('etag')
app.use(express.json())
app.post('/events/topics/:name/publish', async (request, response) => {
  const { seq } = await js.publish(`raw.${request.params.name}`, JSON.stringify(request.body))
  response.status(201).json({ data: { id: seq } })
})
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
