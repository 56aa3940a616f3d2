import { ChangedSignal, natsNames, PlatformEvent, type Principal } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl } from './test-env.js'

/** Everything published to the platform's event subjects since the recorder was started, once as the stream has it. */
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
  const known = new Set<string>()
  const subscription = connection.subscribe(natsNames(natsPrefix).eventSubjects)
  const listening = (async () => {
    for await (const message of subscription) {
      const event = PlatformEvent.parse(JSON.parse(message.string()))
      const messageId = message.headers?.get('Nats-Msg-Id')
      // A relay that got no acknowledgement publishes again, which the stream recognizes by this id.
      if (messageId && known.has(messageId)) continue
      if (messageId) known.add(messageId)
      published.push({ subject: message.subject, messageId, event })
    }
  })()
  // The failure is reported by stop().
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

/** Follows what a service signals of the resources of a principal's tenant from now on: `type id` of each that has changed. */
export async function followChanges(
  { natsPrefix }: { natsPrefix: string },
  { workspaceId = '', environment = 'production' }: Pick<Principal, 'workspaceId' | 'environment'>,
) {
  const log = createLogger({ service: 'recorder', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'changes', log })
  const connection = await link.ready()
  const changed = new Set<string>()
  connection.subscribe(natsNames(natsPrefix).changedSubject({ workspaceId, environment }), {
    callback(_error, message) {
      const { type, ids } = ChangedSignal.parse(message.json())
      for (const id of ids) changed.add(`${type} ${id}`)
    },
  })
  await connection.flush()
  return { changed, close: () => link.close() }
}
