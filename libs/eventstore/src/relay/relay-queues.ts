import type { LoggedEvent } from '../logged-events.js'
import { createFifo, type Fifo } from './fifo.js'

/** The waiting events of one workspace. */
export interface WorkspaceQueue {
  readonly workspaceId: string
  /** Positions that are not loaded yet, in log order within each aggregate. */
  waiting: Fifo<number>
  /** Aggregates whose parked events must be loaded again. */
  unparking: Fifo<StreamQueue>
  /** Aggregates whose next event can be sent. */
  ready: Fifo<StreamQueue>
  /** Number of events in memory, being loaded or in flight. */
  loaded: number
}

/** The last published event of an aggregate. */
export interface LastPublished {
  version: number
  /** Its sequence in the stream; `undefined` if it was given up or is not known. */
  sequence: number | undefined
}

/** The waiting events of one aggregate, which are sent one at a time. */
export interface StreamQueue {
  readonly streamId: string
  readonly workspace: WorkspaceQueue
  /** Events in memory; the first of them is in flight if `busy`. */
  queue: LoggedEvent[]
  /**
   * Positions behind the queue, which are not in memory: a long queue must not use up the memory its workspace has
   * for others.
   */
  parked: Fifo<number>
  /** Number of parked positions that are being loaded back into the queue. */
  unparked: number
  /** In flight, or delayed after a failure. */
  busy: boolean
  inReady: boolean
  inUnparking: boolean
  failures: number
  last: LastPublished
}

export const createWorkspaceQueue = (workspaceId: string): WorkspaceQueue => ({
  workspaceId,
  waiting: createFifo(),
  unparking: createFifo(),
  ready: createFifo(),
  loaded: 0,
})

export const createStreamQueue = (
  streamId: string,
  workspace: WorkspaceQueue,
  last: LastPublished | undefined,
): StreamQueue => ({
  streamId,
  workspace,
  queue: [],
  parked: createFifo(),
  unparked: 0,
  busy: false,
  inReady: false,
  inUnparking: false,
  failures: 0,
  last: last ?? { version: 0, sequence: undefined },
})

/** The version of the last event of a stream; `undefined` if that event is not in memory. */
export function findLastVersion(stream: StreamQueue): number | undefined {
  if (stream.parked.length > 0 || stream.unparked > 0) return undefined
  return stream.queue.at(-1)?.version ?? stream.last.version
}

/** A round-robin queue; adding an entry that is already in it does not move it. */
interface Rotation<T> {
  add(member: T): void
  /** Removes and returns the next one. */
  next(): T | undefined
}

export function createRotation<T>(): Rotation<T> {
  const order = createFifo<T>()
  const members = new Set<T>()
  return {
    add(member) {
      if (members.has(member)) return
      members.add(member)
      order.push(member)
    },
    next() {
      const member = order.shift()
      if (member !== undefined) members.delete(member)
      return member
    },
  }
}
