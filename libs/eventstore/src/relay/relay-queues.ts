import type { LoggedEvent } from '../logged-events.js'
import { createFifo, type Fifo } from './fifo.js'

/** What waits of one workspace. */
export interface WorkspaceQueue {
  readonly workspaceId: string
  /** Positions that are not loaded yet, in the order of the log within each aggregate. */
  waiting: Fifo<number>
  /** Aggregates of which parked events are to be loaded again. */
  unparking: Fifo<StreamQueue>
  /** Aggregates whose next event can be sent. */
  ready: Fifo<StreamQueue>
  /** Events in memory, being loaded or in flight. */
  loaded: number
}

/** What is known of one aggregate's publication. */
export interface LastPublished {
  version: number
  /** Its place in the stream; unknown where it was given up. */
  sequence: number | undefined
}

/** What waits of one aggregate, of which one event is sent at a time. */
export interface StreamQueue {
  readonly streamId: string
  readonly workspace: WorkspaceQueue
  /** In memory, the first of them in flight when `busy`. */
  queue: LoggedEvent[]
  /** Positions behind the queue: a long queue does not fill the memory that others of its workspace need. */
  parked: Fifo<number>
  /** Parked ones on their way back into the queue. */
  unparked: number
  /** In flight, or held back after a failure. */
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

/** The version at the end of a stream; undefined where that is not in memory. */
export function findLastVersion(stream: StreamQueue): number | undefined {
  if (stream.parked.length > 0 || stream.unparked > 0) return undefined
  return stream.queue.at(-1)?.version ?? stream.last.version
}

/** What is served round-robin; whatever is in already keeps its place. */
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
