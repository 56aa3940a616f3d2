import { createHash } from 'node:crypto'
import { JsHeaders, jetstream } from '@nats-io/jetstream'
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj'
import { type NatsConnection, headers as natsHeaders, nuid } from '@nats-io/transport-node'
import { CorruptObjectError } from './errors.js'
import type { NatsLink } from './link.js'
import { openStreamManager } from './streams.js'

/** An object to store, with the hexadecimal SHA-256 of its bytes, which callers have already computed. */
export interface NewObject {
  name: string
  bytes: Uint8Array
  sha256: string
}

/** Objects of some MB in the Object Store of JetStream (ADR-20 of NATS), compatible with `nats object`. */
interface ObjectBucket {
  /**
   * Resolves once the object is stored. Rejects if the bucket is full or NATS is unavailable; it is then unknown
   * whether the object is stored.
   */
  put(object: NewObject, signal: AbortSignal): Promise<void>
  /** `undefined` if there is none. Rejects if the content differs from what was stored. */
  get(name: string, signal: AbortSignal): Promise<Uint8Array | undefined>
  /** Removes the object without leaving a trace. An object that does not exist is not an error. */
  remove(name: string): Promise<void>
}

interface ObjectBucketOptions {
  bucket: string
  description: string
  /** Size limit of the bucket on creation; later changes by an operator are preserved. -1 for no limit. */
  maxBytes: number
  replicas: number
}

export const objectStreamName = (bucket: string) => `OBJ_${bucket}`

/** Half the default maximum size of a message. */
const chunkBytes = 524_288
const timeoutMs = 10_000

/** Creates the bucket on first use if there is none. */
export function openObjectBucket(link: NatsLink, options: ObjectBucketOptions): ObjectBucket {
  const { bucket, description, maxBytes, replicas } = options
  let cachedStore: { on: NatsConnection; store: Promise<ObjectStore> } | undefined

  const metaSubject = (name: string) => `$O.${bucket}.M.${encodedName(name)}`

  const store = async (signal?: AbortSignal): Promise<ObjectStore> => {
    const connection = await link.ready(signal)
    if (cachedStore?.on !== connection) {
      // Without the client's own check, which would request account information the user is not allowed to read.
      const client = jetstream(connection, { checkAPI: false, timeout: timeoutMs })
      const made = new Objm(client).create(bucket, { description, max_bytes: maxBytes, replicas })
      cachedStore = { on: connection, store: made }
      made.catch(() => {
        cachedStore = undefined
      })
    }
    return cachedStore.store
  }

  return {
    async put({ name, bytes, sha256 }, signal) {
      const before = (await store(signal)).info(name)
      // The rejection is handled where the promise is awaited.
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
      // Not awaited one by one: a connection preserves their order.
      const sent = chunks.map((chunk) => client.publish(`$O.${bucket}.C.${id}`, chunk))
      let replaced: ObjectInfo | null = null
      try {
        ;[replaced] = await raceAbort(Promise.all([before, ...sent]), signal)
        const meta = JSON.stringify({ ...info, ...made, digest: digestOf(sha256) })
        await raceAbort(client.publish(metaSubject(name), meta, { headers }), signal)
      } catch (error) {
        await Promise.allSettled(sent)
        // Without the object's description its chunks would never be found.
        await purgeChunks(id).catch(() => {})
        throw error
      }
      if (replaced && !replaced.deleted) await purgeChunks(replaced.nuid)
    },
    async get(name, signal) {
      const info = await raceAbort((await store(signal)).info(name), signal)
      if (!info || info.deleted) return undefined
      const manager = await openStreamManager(await link.ready(signal), timeoutMs)
      const chunks: Uint8Array[] = []
      // Requested one by one, which needs no consumer: permission for a consumer would let the server write to any
      // subject.
      for (let seq = 1, bytes = 0; bytes < info.size; ) {
        const next = { seq, next_by_subj: `$O.${bucket}.C.${info.nuid}` }
        const chunk = await raceAbort(manager.direct.getMessage(objectStreamName(bucket), next), signal)
        // Removed in the meantime.
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
      // Purges the delete marker, which the store would keep permanently.
      const manager = await openStreamManager(await link.ready(), timeoutMs)
      await manager.streams.purge(objectStreamName(bucket), { filter: metaSubject(name) })
    },
  }
}

/** In the format of object stores: base64 for URLs, padded. */
const digestOf = (sha256: string) => `SHA-256=${padded(Buffer.from(sha256, 'hex').toString('base64url'))}`
const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=')

/** In the format object stores use for names in subjects. */
const encodedName = (name: string) => padded(Buffer.from(name).toString('base64url'))

/** Views instead of copies: the client would copy the remaining bytes for each chunk. */
function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / chunkBytes)
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes))
}

async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // The rejection would be unhandled once the signal aborts.
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
