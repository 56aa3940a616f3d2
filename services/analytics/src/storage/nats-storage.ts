import { type NatsLink, openObjectBucket } from '@opsplane/nats'
import { MissingObjectError, type ObjectStorage } from './object-storage.js'

export interface NatsStorageOptions {
  bucket: string
  /** Maximum size of the bucket, set when it is created; -1 for no limit. */
  maxBytes: number
  replicas: number
}

/** Stores parts in the NATS Object Store. */
export function natsStorage(link: NatsLink, options: NatsStorageOptions): ObjectStorage {
  const objects = openObjectBucket(link, { ...options, description: 'Parts of the files of exports' })
  return {
    put: objects.put,
    async get(name, { from, to }, signal) {
      const content = await objects.get(name, signal)
      if (!content) throw new MissingObjectError(name)
      return content.subarray(from, to + 1)
    },
    remove: (name) => objects.remove(name),
  }
}
