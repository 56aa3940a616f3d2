import type { PublishAck } from '@opsplane/nats'
import { retryDelayMs } from '@opsplane/runtime'
import type { LoggedEvent } from './logged-events.js'
import { createOutboxPositions, type OutboxPositions } from './outbox-positions.js'
import {
  createLane,
  createLine,
  createRotation,
  endOf,
  type Lane,
  type LastPublished,
  type Line,
} from './relay-lane.js'

export interface RelayQueueOptions {
  /** Up to this position everything is published. */
  start: number
  /** Publishes one event, or gives it up, which is undefined; rejects when it is to be tried again. */
  send(event: LoggedEvent, last: LastPublished): Promise<PublishAck | undefined>
  /** The events that still wait at these positions. Must not reject; undefined when there is no more to be done. */
  load(positions: number[]): Promise<LoggedEvent[] | undefined>
  mayPublish(): boolean
  /** Published, given up, or gone from the outbox. */
  onDone(position: number, event: LoggedEvent | undefined, ack: PublishAck | undefined): void
  onFailure(error: unknown): void
}

/**
 * Decides what is published next. Workspaces take turns, aggregates within them too, and of each aggregate one event
 * is in flight at a time: the next follows when it is acknowledged. One that fails holds up only those behind it of
 * its aggregate.
 */
export interface RelayQueue {
  readonly positions: OutboxPositions
  /** What a look has found of a workspace, in the order of the log. */
  learn(workspaceId: string, positions: number[]): void
  /**
   * Takes an event that is known to be in the outbox, where all before it of its aggregate are known. Otherwise
   * false: a look must find it first.
   */
  offer(event: LoggedEvent): boolean
  /** Goes on after `mayPublish` has changed. */
  pump(): void
  /** Sends no more; resolves once nothing is in flight. */
  close(): Promise<void>
}

const limits = {
  inFlight: 256,
  inFlightBytes: 8 * 1024 * 1024,
  loaded: 1_024,
  loadedBytes: 32 * 1024 * 1024,
  loadedOfLane: 128,
  batch: 256,
  /** Positions of a lane in one round of loading. */
  share: 32,
  queueOfLine: 16,
  kept: 1_024,
  keptBytes: 64 * 1024,
  published: 20_000,
}

export function createRelayQueue(options: RelayQueueOptions): RelayQueue {
  const positions = createOutboxPositions(options.start)
  const lanes = new Map<string, Lane>()
  const lines = new Map<string, Line>()
  /** Aggregates of which nothing waits, the longest untouched first. */
  const published = new Map<string, LastPublished>()
  /** Offered events that a look must find first, by position, so that it need not load them; no large ones. */
  const kept = new Map<number, LoggedEvent>()
  const loading = createRotation<Lane>()
  const sending = createRotation<Lane>()
  const timers = new Set<NodeJS.Timeout>()
  let loaded = 0
  let loadedBytes = 0
  /** Of one event, as they have been of late: how much a batch will be is only known once it is there. */
  let usualBytes = 4_096
  let inFlight = 0
  let inFlightBytes = 0
  let filling = false
  let closed = false
  let whenIdle: () => void = () => {}

  const laneOf = (workspaceId: string): Lane => {
    const lane = lanes.get(workspaceId) ?? createLane(workspaceId)
    lanes.set(workspaceId, lane)
    return lane
  }
  const lineOf = (streamId: string, lane: Lane): Line => {
    const line = lines.get(streamId) ?? createLine(streamId, lane, published.get(streamId))
    lines.set(streamId, line)
    published.delete(streamId)
    return line
  }

  const wantLoad = (lane: Lane) => {
    const waits = lane.waiting.length > 0 || lane.unparking.length > 0
    if (waits && lane.loaded < limits.loadedOfLane) loading.add(lane)
  }
  const wantUnpark = (line: Line) => {
    if (line.inUnparking || line.parked.length === 0 || line.queue.length > limits.queueOfLine / 2) return
    line.inUnparking = true
    line.lane.unparking.push(line)
    wantLoad(line.lane)
  }
  const wantSend = (line: Line) => {
    if (line.busy || line.inReady || line.queue.length === 0) return
    line.inReady = true
    line.lane.ready.push(line)
    sending.add(line.lane)
  }

  /** Where the next positions to load come from: a round of the lanes. */
  function takeBatch(): Map<number, Line | Lane> {
    const batch = new Map<number, Line | Lane>()
    const room = () =>
      batch.size < limits.batch &&
      loaded < limits.loaded &&
      (loaded === 0 || loadedBytes + batch.size * usualBytes < limits.loadedBytes)
    const take = (position: number | undefined, from: Line | Lane, lane: Lane) => {
      if (position === undefined) return
      batch.set(position, from)
      lane.loaded++
      loaded++
    }
    for (let lane = room() ? loading.next() : undefined; lane; lane = room() ? loading.next() : undefined) {
      const affordable = Math.ceil(limits.loadedBytes / usualBytes / 8)
      let share = Math.min(limits.share, limits.loadedOfLane - lane.loaded, affordable)
      for (let line = lane.unparking.shift(); line; line = share > 0 ? lane.unparking.shift() : undefined) {
        line.inUnparking = false
        const count = Math.min(limits.queueOfLine - line.queue.length, line.parked.length)
        for (let at = 0; at < count; at++) take(line.parked.shift(), line, lane)
        line.unparked += count
        share -= count
      }
      for (; share > 0 && lane.waiting.length > 0; share--) take(lane.waiting.shift(), lane, lane)
      wantLoad(lane)
    }
    return batch
  }

  async function fill(): Promise<void> {
    if (filling || closed) return
    const batch = takeBatch()
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

  /** Puts what was loaded into its line, or parks it where that is long. */
  function place(position: number, event: LoggedEvent | undefined, from: Line | Lane) {
    const lane = 'lane' in from ? from.lane : from
    if (from !== lane) (from as Line).unparked--
    if (!event) {
      release(lane, 0)
      finish(position, undefined, undefined)
      return
    }
    const bytes = event.data.length
    loadedBytes += bytes
    usualBytes = Math.max(1_024, bytes, usualBytes * 0.9)
    const line = lineOf(event.streamId, lane)
    const behind = line.parked.length > 0 || line.unparked > 0 || line.queue.length >= limits.queueOfLine
    if (from === lane && behind) {
      line.parked.push(position)
      wantUnpark(line)
      release(lane, bytes)
      return
    }
    line.queue.push(event)
    wantSend(line)
    wantUnpark(line)
  }

  const release = (lane: Lane, bytes: number) => {
    loaded--
    loadedBytes -= bytes
    lane.loaded--
    wantLoad(lane)
    const isEmpty = lane.loaded === 0 && lane.waiting.length === 0 && lane.unparking.length === 0
    if (isEmpty) lanes.delete(lane.workspaceId)
  }
  const finish = (position: number, event: LoggedEvent | undefined, ack: PublishAck | undefined) => {
    positions.done(position)
    options.onDone(position, event, ack)
  }

  async function transmit(line: Line, event: LoggedEvent): Promise<void> {
    const bytes = event.data.length
    inFlight++
    inFlightBytes += bytes
    line.busy = true
    try {
      const ack = await options.send(event, line.last)
      line.busy = false
      line.failures = 0
      line.queue.shift()
      line.last = { version: event.version, sequence: ack?.sequence }
      finish(Number(event.position), event, ack)
      retire(line)
      release(line.lane, bytes)
    } catch (error) {
      holdBack(line)
      options.onFailure(error)
    }
    inFlight--
    inFlightBytes -= bytes
    if (inFlight === 0) whenIdle()
    pump()
  }

  /** Lets go of a line that is empty, remembering where it ended. */
  function retire(line: Line) {
    wantSend(line)
    wantUnpark(line)
    if (line.queue.length > 0 || line.parked.length > 0 || line.unparked > 0) return
    lines.delete(line.streamId)
    published.set(line.streamId, line.last)
    if (published.size > limits.published) published.delete(published.keys().next().value ?? '')
  }

  function holdBack(line: Line) {
    line.failures++
    if (closed) return
    const timer = setTimeout(
      () => {
        timers.delete(timer)
        line.busy = false
        wantSend(line)
        pump()
      },
      retryDelayMs({ attempt: line.failures, strategy: 'exponential', baseMs: 50, maxMs: 2_000 }),
    )
    timers.add(timer)
  }

  function pump() {
    while (inFlight < limits.inFlight && inFlightBytes < limits.inFlightBytes) {
      if (closed || !options.mayPublish()) return
      const lane = sending.next()
      if (!lane) break
      const line = lane.ready.shift()
      if (lane.ready.length > 0) sending.add(lane)
      const event = line?.queue[0]
      if (!line || !event) continue
      line.inReady = false
      void transmit(line, event)
    }
    void fill()
  }

  /** Whether an event is known to be the next of its aggregate, and its workspace has no more than its share. */
  function mayEnter({ workspaceId, streamId, version }: LoggedEvent): boolean {
    const lane = lanes.get(workspaceId)
    if (loaded >= limits.loaded || loadedBytes >= limits.loadedBytes) return false
    if (lane && (lane.waiting.length > 0 || lane.loaded >= limits.loadedOfLane)) return false
    const line = lines.get(streamId)
    if (line && line.queue.length >= limits.queueOfLine) return false
    return (line ? endOf(line) : (published.get(streamId)?.version ?? 0)) === version - 1
  }

  function keep(position: number, event: LoggedEvent) {
    if (event.data.length > limits.keptBytes) return
    if (kept.size >= limits.kept) kept.delete(kept.keys().next().value ?? 0)
    kept.set(position, event)
  }

  return {
    positions,
    learn(workspaceId, found) {
      const lane = laneOf(workspaceId)
      for (const position of found) if (positions.learn(position)) lane.waiting.push(position)
      wantLoad(lane)
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
      const lane = laneOf(event.workspaceId)
      lane.loaded++
      loaded++
      place(position, event, lane)
      pump()
      return true
    },
    pump,
    async close() {
      closed = true
      for (const timer of timers) clearTimeout(timer)
      if (inFlight > 0)
        await new Promise<void>((resolve) => {
          whenIdle = resolve
        })
    },
  }
}
