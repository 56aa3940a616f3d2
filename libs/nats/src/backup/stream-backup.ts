import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { StreamConfig } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { createUserInbox } from '../inbox.js'
import { openStreamManager, streamInfo } from '../streams.js'

/** A stream without its messages, as the server returns it; passed back unchanged on restore. */
interface StreamHead {
  config: Partial<StreamConfig> & { name: string }
  state: { messages: number; bytes: number; first_seq: number; last_seq: number }
}

/** A durable consumer and its position. */
export interface ConsumerHead {
  stream: string
  config: Record<string, unknown> & { durable_name?: string | undefined }
  /** Everything up to this sequence was acknowledged. */
  acknowledged: number
}

/** The server aborted a snapshot or restore, or rejected it. */
export class StreamBackupError extends Error {}

const timeoutMs = 60_000
/** Maximum time without new data from the server. */
const silenceMs = 60_000
const chunkBytes = 131_072

/**
 * A stream as bytes in the server's own format, from its snapshot API. A restored stream therefore keeps its
 * sequences and its description, from which ids of topic events are made (ADR 012). Consumers are not included.
 * `undefined` if there is no such stream. The server sends no more than is read. Rejects with StreamBackupError
 * for a stream in memory, which has no snapshots.
 */
export async function readStream(
  connection: NatsConnection,
  stream: string,
): Promise<{ head: StreamHead; bytes: Readable } | undefined> {
  if (!(await streamInfo(await openStreamManager(connection, timeoutMs), stream))) return undefined
  const bytes = new PassThrough({ highWaterMark: 8 * chunkBytes })
  const inbox = createUserInbox(connection)
  const silence = setTimeout(
    () => bytes.destroy(new StreamBackupError(`the server stopped sending ${stream}`)),
    silenceMs,
  )
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      silence.refresh()
      if (error) bytes.destroy(error)
      else void acceptChunk(message, bytes)
    },
  })
  bytes.once('close', () => {
    clearTimeout(silence)
    subscription.unsubscribe()
  })
  const request = { deliver_subject: inbox, no_consumers: true, chunk_size: chunkBytes, jsck: false }
  try {
    const head = await sendRequest(connection, `$JS.API.STREAM.SNAPSHOT.${stream}`, request)
    return { head: headOf(stream, head), bytes }
  } catch (error) {
    bytes.destroy()
    throw error
  }
}

/**
 * Each chunk is acknowledged once it is accepted, so that the server sends the next; a message without bytes is
 * the last.
 */
async function acceptChunk(message: Msg, bytes: PassThrough): Promise<void> {
  if (message.data.length === 0) {
    const fault = message.headers?.code ?? 0
    if (fault >= 400) bytes.destroy(new StreamBackupError(message.headers?.description))
    else bytes.end()
    return
  }
  if (!bytes.write(message.data)) await once(bytes, 'drain').catch(() => {})
  if (!bytes.destroyed) message.respond()
}

/** Restores a stream from such bytes; no stream of its name may exist. */
export async function writeStream(
  connection: NatsConnection,
  { config, state }: StreamHead,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { name } = config
  const begun = await sendRequest(connection, `$JS.API.STREAM.RESTORE.${name}`, { config, state })
  const target = begun.deliver_subject
  if (typeof target !== 'string') throw new StreamBackupError(`the server takes no copy of ${name}`)
  for await (const chunk of pieces(bytes)) await connection.request(target, chunk, { timeout: timeoutMs })
  const end = await connection.request(target, new Uint8Array(), { timeout: timeoutMs })
  answerOf(name, end)
}

/** Splits the bytes, because a server accepts no message larger than its limit. */
async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes)
    for (let at = 0; at < chunk.length; at += chunkBytes) yield chunk.subarray(at, at + chunkBytes)
}

/** Positions of the durable consumers of a stream; empty if there is no stream. */
export async function readConsumers(connection: NatsConnection, stream: string): Promise<ConsumerHead[]> {
  const manager = await openStreamManager(connection, timeoutMs)
  if (!(await streamInfo(manager, stream))) return []
  const heads: ConsumerHead[] = []
  for await (const { config, ack_floor } of manager.consumers.list(stream)) {
    if (config.durable_name !== undefined)
      heads.push({ stream, config: { ...config }, acknowledged: ack_floor.stream_seq })
  }
  return heads
}

/** Creates a durable consumer that continues after the acknowledged sequence. */
export async function writeConsumer(
  connection: NatsConnection,
  { stream, config, acknowledged }: ConsumerHead,
): Promise<void> {
  const { opt_start_time: _, num_replicas: __, ...kept } = config
  const place = { deliver_policy: 'by_start_sequence', opt_start_seq: acknowledged + 1 }
  const durable = String(config.durable_name)
  await sendRequest(connection, `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`, {
    stream_name: stream,
    config: { ...kept, ...place },
  })
}

/** Number of messages in a stream; `undefined` if there is none. */
export async function countMessages(connection: NatsConnection, stream: string): Promise<number | undefined> {
  return (await streamInfo(await openStreamManager(connection, timeoutMs), stream))?.state.messages
}

export async function deleteStream(connection: NatsConnection, stream: string): Promise<void> {
  const manager = await openStreamManager(connection, timeoutMs)
  if (await streamInfo(manager, stream)) await manager.streams.delete(stream)
}

async function sendRequest(connection: NatsConnection, subject: string, request: object) {
  const answer = await connection.request(subject, JSON.stringify(request), { timeout: timeoutMs })
  return answerOf(subject, answer)
}

function answerOf(requestName: string, message: Msg): Record<string, unknown> {
  const answer: unknown = message.json()
  if (typeof answer !== 'object' || answer === null)
    throw new StreamBackupError(`no answer to ${requestName}`)
  const { error, ...rest } = answer as Record<string, unknown>
  if (error === undefined) return rest
  const description =
    typeof error === 'object' && error !== null && 'description' in error ? error.description : ''
  throw new StreamBackupError(`${requestName}: ${String(description)}`)
}

function headOf(stream: string, { config, state }: Record<string, unknown>): StreamHead {
  if (typeof config !== 'object' || typeof state !== 'object' || !config || !state)
    throw new StreamBackupError(`the server says nothing of ${stream}`)
  return { config, state } as StreamHead
}
