import { JetStreamApiError } from '@nats-io/jetstream'
import { headers, type NatsConnection } from '@nats-io/transport-node'
import { Environment, eventHeaders, type NatsNames } from '@opsplane/contracts'
import type { AckInbox, EventSignatures, PublishAck } from '@opsplane/nats'
import { formatEnvelope, type LoggedEvent } from '../logged-events.js'

interface PublishOptions {
  inbox: AckInbox
  names: NatsNames
  /** The service whose log contains the event. */
  schema: string
  /** Provides the maximum message size of the server; unknown while it is connecting. */
  connection: Pick<NatsConnection, 'info'>
  /** Every position up to here is acknowledged. */
  floor: number
  /** The event's id if absent. */
  messageId?: string
  /** The span in which it is published. */
  traceparent?: string | undefined
  /** If absent, as in tests of the relay alone, the event is not signed. */
  signatures: EventSignatures | undefined
}

/** Room for subject and headers, which count towards the server's limit. */
const headroomBytes = 4_096
/** JetStream error code: the message exceeds the maximum message size of the stream. */
const exceedsStreamsLimit = 10_054

/**
 * Publishes one event to the platform stream; `undefined` if it exceeds the size limit of the server or the
 * stream.
 */
export async function publishEvent(
  event: LoggedEvent,
  options: PublishOptions,
): Promise<PublishAck | undefined> {
  const { inbox, names, connection, messageId = event.id } = options
  const body = formatEnvelope(event)
  const maxPayload = connection.info?.max_payload ?? Number.POSITIVE_INFINITY
  if (Buffer.byteLength(body) > maxPayload - headroomBytes) return undefined
  const { workspaceId, type } = event
  const environment = Environment.parse(event.environment)
  const carried = headers()
  carried.set(eventHeaders.messageId, messageId)
  carried.set(eventHeaders.source, options.schema)
  carried.set(eventHeaders.position, event.position)
  carried.set(eventHeaders.lowWatermark, String(options.floor))
  carried.set(eventHeaders.stream, encodeURIComponent(event.streamId))
  if (options.traceparent !== undefined) carried.set(eventHeaders.traceparent, options.traceparent)
  if (event.requestId !== null) carried.set(eventHeaders.requestId, event.requestId)
  const subject = names.eventSubject({ workspaceId, environment, type })
  const signature = options.signatures?.sign({ subject, header: (name) => carried.get(name) }, body)
  if (signature !== undefined) carried.set(eventHeaders.signature, signature)
  try {
    return await inbox.publish(subject, body, carried)
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === exceedsStreamsLimit) return undefined
    throw error
  }
}
