import { subscribeEvents } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'

const { NATS_URL: url = 'nats://127.0.0.1:4222', NATS_PREFIX: prefix = '' } = process.env

const subscription = subscribeEvents({
  url,
  prefix,
  durable: 'example-incidents',
  patterns: ['incident.created', 'incident.escalated', 'incident.resolved'],
  log: createLogger({ service: 'example', level: 'warn' }),
  handle: async (event) => {
    // `data` has the type that the catalogue declares for `event.type`.
    const { after } = event.data
    const what = event.type === 'incident.escalated' ? `${event.type} (${event.data.causes})` : event.type
    process.stdout.write(`${event.createdAt} ${what} ${after?.number} ${after?.severity}: ${after?.title}\n`)
  },
})

process.once('SIGINT', () => subscription.close())
process.once('SIGTERM', () => subscription.close())
