import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import type { StreamConfig } from '@nats-io/jetstream'
import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { createUserInbox } from '../inbox.js'
import { openStreamManager, streamInfo } from '../streams.js'

/** A stream as the server hands it out, messages apart: to be given back as it is. */
interface StreamHead {
  config: Partial<StreamConfig> & { name: string }
  state: { messages: number; bytes: number; first_seq: number; last_seq: number }
}

/** Where a durable consumer stood. */
export interface ConsumerHead {
  stream: string
  config: Record<string, unknown> & { durable_name?: string | undefined }
  /** Up to this sequence everything was acknowledged. */
  acknowledged: number
}

/** The server broke a copy off, or refuses one. */
export class StreamBackupError extends Error {}

const timeoutMs = 60_000
/** Without anything new from the server. */
const silenceMs = 60_000
const chunkBytes = 131_072

/**
 * A stream as bytes of the server's own format, by its snapshot API: with it a stream keeps its sequences and its
 * description, which ids of topic events are made of (ADR 012). Consumers are not in it. Undefined where there is no such stream.
 * The server sends no more than is read. Rejects with StreamBackupError for a stream in memory, which has no snapshots.
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
      else void take(message, bytes)
    },
  })
  bytes.once('close', () => {
    clearTimeout(silence)
    subscription.unsubscribe()
  })
  const request = { deliver_subject: inbox, no_consumers: true, chunk_size: chunkBytes, jsck: false }
  try {
    const head = await ask(connection, `$JS.API.STREAM.SNAPSHOT.${stream}`, request)
    return { head: headOf(stream, head), bytes }
  } catch (error) {
    bytes.destroy()
    throw error
  }
}

/** Each chunk is acknowledged once it was taken, for the server to send the next; one without bytes is the last. */
async function take(message: Msg, bytes: PassThrough): Promise<void> {
  if (message.data.length === 0) {
    const fault = message.headers?.code ?? 0
    if (fault >= 400) bytes.destroy(new StreamBackupError(message.headers?.description))
    else bytes.end()
    return
  }
  if (!bytes.write(message.data)) await once(bytes, 'drain').catch(() => {})
  if (!bytes.destroyed) message.respond()
}

/** Makes a stream of such bytes; there must be none of its name. */
export async function writeStream(
  connection: NatsConnection,
  { config, state }: StreamHead,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { name } = config
  const begun = await ask(connection, `$JS.API.STREAM.RESTORE.${name}`, { config, state })
  const target = begun.deliver_subject
  if (typeof target !== 'string') throw new StreamBackupError(`the server takes no copy of ${name}`)
  for await (const chunk of pieces(bytes)) await connection.request(target, chunk, { timeout: timeoutMs })
  const end = await connection.request(target, new Uint8Array(), { timeout: timeoutMs })
  answerOf(name, end)
}

/** A server takes no message larger than its limit. */
async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes)
    for (let at = 0; at < chunk.length; at += chunkBytes) yield chunk.subarray(at, at + chunkBytes)
}

/** Where the durable consumers of a stream stand; none where there is no stream. */
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

/** Makes a durable consumer that goes on behind what was acknowledged. */
export async function writeConsumer(
  connection: NatsConnection,
  { stream, config, acknowledged }: ConsumerHead,
): Promise<void> {
  const { opt_start_time: _, num_replicas: __, ...kept } = config
  const place = { deliver_policy: 'by_start_sequence', opt_start_seq: acknowledged + 1 }
  const durable = String(config.durable_name)
  await ask(connection, `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`, {
    stream_name: stream,
    config: { ...kept, ...place },
  })
}

/** How many messages a stream has; undefined where there is none. */
export async function countMessages(connection: NatsConnection, stream: string): Promise<number | undefined> {
  return (await streamInfo(await openStreamManager(connection, timeoutMs), stream))?.state.messages
}

export async function deleteStream(connection: NatsConnection, stream: string): Promise<void> {
  const manager = await openStreamManager(connection, timeoutMs)
  if (await streamInfo(manager, stream)) await manager.streams.delete(stream)
}

async function ask(connection: NatsConnection, subject: string, request: object) {
  const answer = await connection.request(subject, JSON.stringify(request), { timeout: timeoutMs })
  return answerOf(subject, answer)
}

function answerOf(what: string, message: Msg): Record<string, unknown> {
  const answer: unknown = message.json()
  if (typeof answer !== 'object' || answer === null) throw new StreamBackupError(`no answer to ${what}`)
  const { error, ...rest } = answer as Record<string, unknown>
  if (error === undefined) return rest
  const said = typeof error === 'object' && error !== null && 'description' in error ? error.description : ''
  throw new StreamBackupError(`${what}: ${String(said)}`)
}

function headOf(stream: string, { config, state }: Record<string, unknown>): StreamHead {
  if (typeof config !== 'object' || typeof state !== 'object' || !config || !state)
    throw new StreamBackupError(`the server says nothing of ${stream}`)
  return { config, state } as StreamHead
}
