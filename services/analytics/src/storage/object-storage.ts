import type { NewObject } from '@opsplane/nats'

/** Where the parts of files are kept. Names are unique for ever: nothing is put twice with other bytes. */
export interface ObjectStorage {
  /** Resolves once it is kept; rejected, it may be there or not. */
  put(object: NewObject, signal: AbortSignal): Promise<void>
  /** Bytes from `from` to `to`, the last one included. Throws MissingObjectError. */
  get(name: string, range: { from: number; to: number }, signal: AbortSignal): Promise<Uint8Array>
  /** What is not there is no fault. */
  remove(name: string, signal: AbortSignal): Promise<void>
}

/** A part of a file is missing: the storage was changed from outside. */
export class MissingObjectError extends Error {
  override name = 'MissingObjectError'

  constructor(object: string) {
    super(`the storage has no object ${object}`)
  }
}
