import { type JetStreamClient, jetstream } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { Environment, eventHeaders, type NatsNames } from '@opsplane/contracts'
import { envelopeOf, type LoggedEvent } from './logged-events.js'

export interface PublishOutcome {
  /** What the stream has acknowledged. */
  published: LoggedEvent[]
  /** What can never be published, being larger than the server takes. */
  oversized: LoggedEvent[]
  /** Why some were not published, when that is so; they are to be tried again. */
  failure: unknown
}

const ackTimeoutMs = 5_000
/** Room for subject and headers, which count towards the server's limit. */
const headroomBytes = 4_096

/**
 * Publishes events to the platform stream: side by side for different aggregates, one after the other within one,
 * where the first that fails holds back those after it. The event's id makes a repetition harmless.
 */
export async function publishEvents(
  connection: NatsConnection,
  names: NatsNames,
  events: LoggedEvent[],
): Promise<PublishOutcome> {
  const client = jetstream(connection)
  const limit = (connection.info?.max_payload ?? 1_048_576) - headroomBytes
  const outcome: PublishOutcome = { published: [], oversized: [], failure: undefined }

  const publishStream = async (stream: LoggedEvent[]) => {
    for (const event of stream) {
      const body = envelopeOf(event)
      if (Buffer.byteLength(body) > limit) {
        outcome.oversized.push(event)
        continue
      }
      try {
        await publish(client, names, event, body)
        outcome.published.push(event)
      } catch (error) {
        outcome.failure ??= error
        return
      }
    }
  }
  await Promise.all([...byAggregate(events)].map(publishStream))
  return outcome
}

function publish(client: JetStreamClient, names: NatsNames, event: LoggedEvent, body: string) {
  const { workspaceId, type } = event
  const environment = Environment.parse(event.environment)
  const carried = headers()
  if (event.requestId !== null) carried.set(eventHeaders.requestId, event.requestId)
  return client.publish(names.eventSubject({ workspaceId, environment, type }), body, {
    msgID: event.id,
    headers: carried,
    timeout: ackTimeoutMs,
    // The relay's next round is the retry.
    retries: 0,
  })
}

function byAggregate(events: LoggedEvent[]): Iterable<LoggedEvent[]> {
  const streams = new Map<string, LoggedEvent[]>()
  for (const event of events) {
    const stream = streams.get(event.streamId)
    if (stream) stream.push(event)
    else streams.set(event.streamId, [event])
  }
  return streams.values()
}
