import { ChangedSignal, natsNames, PlatformEvent, type Principal } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl } from './test-env.js'

/** All events published since the recorder was started, without duplicates, as in the stream. */
export interface EventRecorder {
  published: { subject: string; messageId: string | undefined; event: PlatformEvent }[]
  stop(): Promise<void>
}

/** Subscribes to the events of one installation. A message that is no PlatformEvent makes `stop` fail. */
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
      // A relay that got no acknowledgement publishes again; the stream detects the duplicate by this id.
      if (messageId && known.has(messageId)) continue
      if (messageId) known.add(messageId)
      published.push({ subject: message.subject, messageId, event })
    }
  })()
  // The failure is reported by stop().
  listening.catch(() => undefined)
  // Ensures that the server has registered the subscription before anything is published.
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

/** Records a service's change signals for a principal's tenant from now on: `type id` of each changed resource. */
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
