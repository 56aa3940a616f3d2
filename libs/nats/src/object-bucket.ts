import { createHash } from 'node:crypto'
import { JsHeaders, jetstream } from '@nats-io/jetstream'
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj'
import { type NatsConnection, headers as natsHeaders, nuid } from '@nats-io/transport-node'
import { CorruptObjectError } from './errors.js'
import type { NatsLink } from './link.js'
import { openStreamManager } from './streams.js'

/** An object to store, with the hexadecimal SHA-256 of its bytes, which the caller has anyway. */
export interface NewObject {
  name: string
  bytes: Uint8Array
  sha256: string
}

/** Objects of some MB in the Object Store of JetStream (ADR-20 of NATS), as `nats object` shows them. */
interface ObjectBucket {
  /** Resolves once it is kept. Rejects where the bucket is full or NATS is away: whether it is there is then not known. */
  put(object: NewObject, signal: AbortSignal): Promise<void>
  /** Undefined for none. Rejects where what is read is not what was put. */
  get(name: string, signal: AbortSignal): Promise<Uint8Array | undefined>
  /** What is not there is no fault; nothing is left of it. */
  remove(name: string): Promise<void>
}

interface ObjectBucketOptions {
  bucket: string
  description: string
  /** Of the bucket when it is made; what an operator changes later stays. -1 for no limit. */
  maxBytes: number
  replicas: number
}

export const objectStreamName = (bucket: string) => `OBJ_${bucket}`

/** Half of what a server takes in one message by default. */
const chunkBytes = 524_288
const timeoutMs = 10_000

/** Makes the bucket with the first use, where there is none. */
export function openObjectBucket(link: NatsLink, options: ObjectBucketOptions): ObjectBucket {
  const { bucket, description, maxBytes, replicas } = options
  let opened: { on: NatsConnection; store: Promise<ObjectStore> } | undefined

  const metaSubject = (name: string) => `$O.${bucket}.M.${encodedName(name)}`

  const store = async (signal?: AbortSignal): Promise<ObjectStore> => {
    const connection = await link.ready(signal)
    if (opened?.on !== connection) {
      // Without the client's own check, which would ask for account information the user may not see.
      const client = jetstream(connection, { checkAPI: false, timeout: timeoutMs })
      const made = new Objm(client).create(bucket, { description, max_bytes: maxBytes, replicas })
      opened = { on: connection, store: made }
      made.catch(() => {
        opened = undefined
      })
    }
    return opened.store
  }

  return {
    async put({ name, bytes, sha256 }, signal) {
      const before = (await store(signal)).info(name)
      // Who awaits it hears of it.
      before.catch(() => {})
      const client = jetstream(await link.ready(signal), { checkAPI: false, timeout: timeoutMs })
      const manager = await openStreamManager(await link.ready(signal), timeoutMs)
      const purgeChunks = (id: string) =>
        manager.streams.purge(objectStreamName(bucket), { filter: `$O.${bucket}.C.${id}` })
      const id = nuid.next()
      const chunks = chunksOf(bytes)
      const info = { name, bucket, nuid: id, size: bytes.length, chunks: chunks.length, deleted: false }
      const made = { options: { max_chunk_size: chunkBytes }, mtime: new Date().toISOString() }
      const headers = natsHeaders()
      headers.set(JsHeaders.RollupHdr, JsHeaders.RollupValueSubject)
      // None waits for the one before it: a connection keeps their order.
      const sent = chunks.map((chunk) => client.publish(`$O.${bucket}.C.${id}`, chunk))
      let replaced: ObjectInfo | null = null
      try {
        ;[replaced] = await unlessAborted(Promise.all([before, ...sent]), signal)
        const meta = JSON.stringify({ ...info, ...made, digest: digestOf(sha256) })
        await unlessAborted(client.publish(metaSubject(name), meta, { headers }), signal)
      } catch (error) {
        await Promise.allSettled(sent)
        // Without the object's description its chunks would never be found.
        await purgeChunks(id).catch(() => {})
        throw error
      }
      if (replaced && !replaced.deleted) await purgeChunks(replaced.nuid)
    },
    async get(name, signal) {
      const info = await unlessAborted((await store(signal)).info(name), signal)
      if (!info || info.deleted) return undefined
      const manager = await openStreamManager(await link.ready(signal), timeoutMs)
      const chunks: Uint8Array[] = []
      // Asked for one by one, which takes no consumer: one of those could have the server write to any subject.
      for (let seq = 1, bytes = 0; bytes < info.size; ) {
        const next = { seq, next_by_subj: `$O.${bucket}.C.${info.nuid}` }
        const chunk = await unlessAborted(manager.direct.getMessage(objectStreamName(bucket), next), signal)
        // Removed meanwhile.
        if (!chunk) return undefined
        chunks.push(chunk.data)
        bytes += chunk.data.length
        seq = chunk.seq + 1
      }
      const content = Buffer.concat(chunks)
      if (digestOf(createHash('sha256').update(content).digest('hex')) !== info.digest)
        throw new CorruptObjectError(bucket, name)
      return content
    },
    async remove(name) {
      const objects = await store()
      await objects.delete(name)
      // The marker of a deleted object, which the store would keep permanently.
      const manager = await openStreamManager(await link.ready(), timeoutMs)
      await manager.streams.purge(objectStreamName(bucket), { filter: metaSubject(name) })
    },
  }
}

/** As object stores write it: base64 for URLs, padded. */
const digestOf = (sha256: string) => `SHA-256=${padded(Buffer.from(sha256, 'hex').toString('base64url'))}`
const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=')

/** As object stores name objects in subjects. */
const encodedName = (name: string) => padded(Buffer.from(name).toString('base64url'))

/** Views, not copies, which is what the client's own way makes: for each chunk one of all that is left. */
function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / chunkBytes)
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes))
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Its rejection is unhandled once the signal aborts.
  promise.catch(() => {})
  signal.throwIfAborted()
  let stop: () => void = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
