import { jetstreamManager } from '@nats-io/jetstream'
import { natsNames } from '@opsplane/contracts'
import { connectNats } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { testNatsUrl } from './test-env.js'
import type { TestService } from './test-service.js'
import { waitFor } from './wait-for.js'

/**
 * Once these consumers of the service have handled every event there is, those among them that handling them wrote. What
 * a test does next is then not mixed up with what it did before, and what has not happened by now never will.
 */
export async function caughtUp(
  { natsPrefix, sql }: Pick<TestService, 'natsPrefix' | 'sql'>,
  ...durables: [string, ...string[]]
): Promise<void> {
  const stream = natsNames(natsPrefix).eventsStream
  const log = createLogger({ service: 'caught-up', level: 'silent' })
  const link = connectNats({ url: testNatsUrl(), name: 'caught-up', log })
  try {
    const manager = await jetstreamManager(await link.ready(), { checkAPI: false })
    /** How far the stream goes once everything in the log is in it; undefined before. */
    const end = async () => {
      const [unpublished] = await sql`select from outbox limit 1`
      return unpublished ? undefined : (await manager.streams.info(stream)).state.last_seq
    }
    const isIdle = async (durable: string) => {
      const { num_pending, num_ack_pending } = await manager.consumers.info(stream, durable)
      return num_pending === 0 && num_ack_pending === 0
    }
    const message = `${durables.join(', ')} to have handled every event`
    await waitFor(
      async () => {
        const before = await end()
        const idle = await Promise.all(durables.map(isIdle))
        return before !== undefined && idle.every(Boolean) && before === (await end())
      },
      // What a process that was killed had in hand comes again after 30 s.
      { message, timeoutMs: 90_000 },
    )
  } finally {
    await link.close()
  }
}
