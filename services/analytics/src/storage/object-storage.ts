import type { NewObject } from '@opsplane/nats'

/** Storage for the parts of files. Names are never reused for different bytes. */
export interface ObjectStorage {
  /** Resolves once the object is stored; after a rejection it may or may not be stored. */
  put(object: NewObject, signal: AbortSignal): Promise<void>
  /** Returns the bytes from `from` to `to` (inclusive). Throws `MissingObjectError`. */
  get(name: string, range: { from: number; to: number }, signal: AbortSignal): Promise<Uint8Array>
  /** Succeeds if the object does not exist. */
  remove(name: string, signal: AbortSignal): Promise<void>
}

/** A part of a file is missing: the storage was modified externally. */
export class MissingObjectError extends Error {
  override name = 'MissingObjectError'

  constructor(object: string) {
    super(`the storage has no object ${object}`)
  }
}
