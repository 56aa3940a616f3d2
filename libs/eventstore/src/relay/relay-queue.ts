import type { PublishAck } from '@opsplane/nats'
import { retryDelayMs, systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import { LRUCache } from 'lru-cache'
import type { LoggedEvent } from '../logged-events.js'
import { createOutboxPositions, type OutboxPositions } from './outbox-positions.js'
import {
  createRotation,
  createStreamQueue,
  createWorkspaceQueue,
  findLastVersion,
  type LastPublished,
  type StreamQueue,
  type WorkspaceQueue,
} from './relay-queues.js'

interface RelayQueueOptions {
  /** Everything up to this position is published. */
  start: number
  /** Publishes one event; resolves to `undefined` if it was given up, and rejects if it must be retried. */
  send(event: LoggedEvent, last: LastPublished): Promise<PublishAck | undefined>
  /** The events at these positions that are still in the outbox. Must not reject; `undefined` if the term is over. */
  load(positions: number[]): Promise<LoggedEvent[] | undefined>
  mayPublish(): boolean
  /** The event was published, given up, or is gone from the outbox. */
  onDone(position: number, event: LoggedEvent | undefined, ack: PublishAck | undefined): void
  onFailure(error: unknown): void
  timers?: Timers
}

/**
 * Decides which event is published next. Workspaces are served round-robin, and so are aggregates within them. One
 * event of each aggregate is in flight at a time: the next follows when it is acknowledged. A failed event delays
 * only the later events of its aggregate.
 */
export interface RelayQueue {
  readonly positions: OutboxPositions
  /** Adds the positions a poll has found for a workspace, in log order. */
  learn(workspaceId: string, positions: number[]): void
  /**
   * Accepts an event that is known to be in the outbox, if all earlier events of its aggregate are known. Otherwise
   * returns `false`: a poll must find it first.
   */
  offer(event: LoggedEvent): boolean
  /** Resumes sending after `mayPublish` has changed. */
  pump(): void
  /** Stops sending; resolves once nothing is in flight. */
  close(): Promise<void>
}

const limits = {
  inFlight: 256,
  inFlightBytes: 8 * 1024 * 1024,
  loaded: 1_024,
  loadedBytes: 32 * 1024 * 1024,
  loadedOfWorkspace: 128,
  batch: 256,
  /** Positions of a workspace in one round of loading. */
  share: 32,
  queuedOfStream: 16,
  kept: 1_024,
  keptBytes: 64 * 1024,
  published: 20_000,
}

export function createRelayQueue(options: RelayQueueOptions): RelayQueue {
  const { timers = systemTimers } = options
  const positions = createOutboxPositions(options.start)
  const workspaces = new Map<string, WorkspaceQueue>()
  const streams = new Map<string, StreamQueue>()
  /** The last published event of aggregates without waiting events. */
  const published = new LRUCache<string, LastPublished>({
    maxSize: limits.published,
    // With a size limit the cache grows with its content; with a count limit it would be fully allocated in each term.
    sizeCalculation: () => 1,
  })
  /** Offered events that a poll must find first, by position, so that they need not be loaded; only small ones. */
  const kept = new Map<number, LoggedEvent>()
  const loading = createRotation<WorkspaceQueue>()
  const sending = createRotation<WorkspaceQueue>()
  const retries = new Set<Timer>()
  let loaded = 0
  let loadedBytes = 0
  /** Recent size of one event: the size of a batch is only known once it is loaded. */
  let usualBytes = 4_096
  let inFlight = 0
  let inFlightBytes = 0
  let filling = false
  let closed = false
  let whenIdle: () => void = () => {}

  const workspaceOf = (workspaceId: string): WorkspaceQueue => {
    const workspace = workspaces.get(workspaceId) ?? createWorkspaceQueue(workspaceId)
    workspaces.set(workspaceId, workspace)
    return workspace
  }
  const streamOf = (streamId: string, workspace: WorkspaceQueue): StreamQueue => {
    const stream = streams.get(streamId) ?? createStreamQueue(streamId, workspace, published.get(streamId))
    streams.set(streamId, stream)
    published.delete(streamId)
    return stream
  }

  const wantLoad = (workspace: WorkspaceQueue) => {
    const waits = workspace.waiting.length > 0 || workspace.unparking.length > 0
    if (waits && workspace.loaded < limits.loadedOfWorkspace) loading.add(workspace)
  }
  const wantUnpark = (stream: StreamQueue) => {
    if (stream.inUnparking || stream.parked.length === 0 || stream.queue.length > limits.queuedOfStream / 2)
      return
    stream.inUnparking = true
    stream.workspace.unparking.push(stream)
    wantLoad(stream.workspace)
  }
  const wantSend = (stream: StreamQueue) => {
    if (stream.busy || stream.inReady || stream.queue.length === 0) return
    stream.inReady = true
    stream.workspace.ready.push(stream)
    sending.add(stream.workspace)
  }

  /** The next positions to load and the queues they come from: one round of the workspaces. */
  function nextBatch(): Map<number, StreamQueue | WorkspaceQueue> {
    const batch = new Map<number, StreamQueue | WorkspaceQueue>()
    const room = () =>
      batch.size < limits.batch &&
      loaded < limits.loaded &&
      (loaded === 0 || loadedBytes + batch.size * usualBytes < limits.loadedBytes)
    const addToBatch = (
      position: number | undefined,
      from: StreamQueue | WorkspaceQueue,
      workspace: WorkspaceQueue,
    ) => {
      if (position === undefined) return
      batch.set(position, from)
      workspace.loaded++
      loaded++
    }
    for (
      let workspace = room() ? loading.next() : undefined;
      workspace;
      workspace = room() ? loading.next() : undefined
    ) {
      const affordable = Math.ceil(limits.loadedBytes / usualBytes / 8)
      let share = Math.min(limits.share, limits.loadedOfWorkspace - workspace.loaded, affordable)
      for (
        let stream = workspace.unparking.shift();
        stream;
        stream = share > 0 ? workspace.unparking.shift() : undefined
      ) {
        stream.inUnparking = false
        const count = Math.min(limits.queuedOfStream - stream.queue.length, stream.parked.length)
        for (let at = 0; at < count; at++) addToBatch(stream.parked.shift(), stream, workspace)
        stream.unparked += count
        share -= count
      }
      for (; share > 0 && workspace.waiting.length > 0; share--)
        addToBatch(workspace.waiting.shift(), workspace, workspace)
      wantLoad(workspace)
    }
    return batch
  }

  async function fill(): Promise<void> {
    if (filling || closed) return
    const batch = nextBatch()
    if (batch.size === 0) return
    filling = true
    const unknown = [...batch.keys()].filter((position) => !kept.has(position))
    const found = unknown.length > 0 ? await options.load(unknown) : []
    filling = false
    if (closed || !found) return
    const events = new Map(found.map((event) => [Number(event.position), event]))
    for (const [position, from] of batch) {
      const event = kept.get(position) ?? events.get(position)
      kept.delete(position)
      place(position, event, from)
    }
    pump()
  }

  /** Puts a loaded event into the queue of its stream, or parks its position if that queue is long. */
  function place(position: number, event: LoggedEvent | undefined, from: StreamQueue | WorkspaceQueue) {
    const workspace = 'workspace' in from ? from.workspace : from
    if (from !== workspace) (from as StreamQueue).unparked--
    if (!event) {
      if (from !== workspace) retire(from as StreamQueue)
      release(workspace, 0)
      finish(position, undefined, undefined)
      return
    }
    const bytes = event.data.length
    loadedBytes += bytes
    usualBytes = Math.max(1_024, bytes, usualBytes * 0.9)
    const stream = streamOf(event.streamId, workspace)
    const behind =
      stream.parked.length > 0 || stream.unparked > 0 || stream.queue.length >= limits.queuedOfStream
    if (from === workspace && behind) {
      stream.parked.push(position)
      wantUnpark(stream)
      release(workspace, bytes)
      return
    }
    stream.queue.push(event)
    wantSend(stream)
    wantUnpark(stream)
  }

  const release = (workspace: WorkspaceQueue, bytes: number) => {
    loaded--
    loadedBytes -= bytes
    workspace.loaded--
    wantLoad(workspace)
    const isEmpty =
      workspace.loaded === 0 && workspace.waiting.length === 0 && workspace.unparking.length === 0
    if (isEmpty) workspaces.delete(workspace.workspaceId)
  }
  const finish = (position: number, event: LoggedEvent | undefined, ack: PublishAck | undefined) => {
    positions.done(position)
    options.onDone(position, event, ack)
  }

  async function transmit(stream: StreamQueue, event: LoggedEvent): Promise<void> {
    const bytes = event.data.length
    inFlight++
    inFlightBytes += bytes
    stream.busy = true
    try {
      const ack = await options.send(event, stream.last)
      stream.busy = false
      stream.failures = 0
      stream.queue.shift()
      stream.last = { version: event.version, sequence: ack?.sequence }
      finish(Number(event.position), event, ack)
      retire(stream)
      release(stream.workspace, bytes)
    } catch (error) {
      scheduleRetry(stream)
      options.onFailure(error)
    }
    inFlight--
    inFlightBytes -= bytes
    if (inFlight === 0) whenIdle()
    pump()
  }

  /** Removes a stream that is empty, remembering its last published event. */
  function retire(stream: StreamQueue) {
    wantSend(stream)
    wantUnpark(stream)
    if (stream.queue.length > 0 || stream.parked.length > 0 || stream.unparked > 0) return
    streams.delete(stream.streamId)
    published.set(stream.streamId, stream.last)
  }

  function scheduleRetry(stream: StreamQueue) {
    stream.failures++
    if (closed) return
    const timer = timers.setTimeout(
      () => {
        retries.delete(timer)
        stream.busy = false
        wantSend(stream)
        pump()
      },
      retryDelayMs({ attempt: stream.failures, strategy: 'exponential', baseMs: 50, maxMs: 2_000 }),
    )
    retries.add(timer)
  }

  function pump() {
    while (inFlight < limits.inFlight && inFlightBytes < limits.inFlightBytes) {
      if (closed || !options.mayPublish()) return
      const workspace = sending.next()
      if (!workspace) break
      const stream = workspace.ready.shift()
      if (workspace.ready.length > 0) sending.add(workspace)
      const event = stream?.queue[0]
      if (!stream || !event) continue
      stream.inReady = false
      void transmit(stream, event)
    }
    void fill()
  }

  /** Whether the event is known to be the next of its aggregate, and its workspace has not used up its share. */
  function mayEnter({ workspaceId, streamId, version }: LoggedEvent): boolean {
    const workspace = workspaces.get(workspaceId)
    if (loaded >= limits.loaded || loadedBytes >= limits.loadedBytes) return false
    if (workspace && (workspace.waiting.length > 0 || workspace.loaded >= limits.loadedOfWorkspace))
      return false
    const stream = streams.get(streamId)
    if (stream && stream.queue.length >= limits.queuedOfStream) return false
    return (stream ? findLastVersion(stream) : (published.get(streamId)?.version ?? 0)) === version - 1
  }

  function keep(position: number, event: LoggedEvent) {
    if (event.data.length > limits.keptBytes) return
    if (kept.size >= limits.kept) kept.delete(kept.keys().next().value ?? 0)
    kept.set(position, event)
  }

  return {
    positions,
    learn(workspaceId, found) {
      const workspace = workspaceOf(workspaceId)
      for (const position of found) if (positions.learn(position)) workspace.waiting.push(position)
      wantLoad(workspace)
      void fill()
    },
    offer(event) {
      const position = Number(event.position)
      if (closed || positions.knows(position)) return true
      if (!mayEnter(event)) {
        keep(position, event)
        return false
      }
      positions.learn(position)
      const workspace = workspaceOf(event.workspaceId)
      workspace.loaded++
      loaded++
      place(position, event, workspace)
      pump()
      return true
    },
    pump,
    async close() {
      closed = true
      for (const timer of retries) timers.clearTimeout(timer)
      if (inFlight > 0)
        await new Promise<void>((resolve) => {
          whenIdle = resolve
        })
    },
  }
}
