import { natsNames, PlatformEvent } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl } from './test-env.js'

/**
 * Everything published to the platform's event subjects since the recorder was started, each message once as in the
 * stream: what the relay publishes again, since nobody confirmed it in time, has the id that it had before.
 */
export interface EventRecorder {
  published: { subject: string; messageId: string | undefined; event: PlatformEvent }[]
  stop(): Promise<void>
}

/** Listens to the events of one installation. What is not a PlatformEvent fails the stop. */
export async function recordEvents(natsPrefix: string): Promise<EventRecorder> {
  const log = createLogger({ service: 'recorder', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'recorder', log })
  const connection = await link.ready()
  const published: EventRecorder['published'] = []
  const seen = new Set<string>()
  const subscription = connection.subscribe(natsNames(natsPrefix).eventSubjects)
  const listening = (async () => {
    for await (const message of subscription) {
      const event = PlatformEvent.parse(JSON.parse(message.string()))
      const messageId = message.headers?.get('Nats-Msg-Id')
      if (messageId && seen.has(messageId)) continue
      if (messageId) seen.add(messageId)
      published.push({ subject: message.subject, messageId, event })
    }
  })()
  // The failure is told by stop().
  listening.catch(() => undefined)
  // The server knows of the subscription before anything is published.
  await connection.flush()
  return {
    published,
    async stop() {
      subscription.unsubscribe()
      await listening
      await link.close()
    },
  }
}
