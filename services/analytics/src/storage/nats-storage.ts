import { type NatsLink, openObjectBucket } from '@opsplane/nats'
import { MissingObjectError, type ObjectStorage } from './object-storage.js'

export interface NatsStorageOptions {
  bucket: string
  /** Of the bucket when it is made; -1 for no limit. */
  maxBytes: number
  replicas: number
}

/** Parts in the Object Store of NATS. */
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
