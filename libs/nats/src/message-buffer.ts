import { createKeyedCounts, recentKeys, systemTimers, type Timer, type Timers } from '@opsplane/runtime'
import type { StreamMessage } from './stream-message.js'

/** A message that has arrived, with its event or the reason it cannot be read. */
export type BufferedMessage<T> = { message: StreamMessage } & (ReadableEvent<T> | { error: unknown })

export interface ReadableEvent<T> {
  event: T
  /** The key within which events are handled in order: the aggregate. */
  queueKey: string
  /** The unit that must not block others: the workspace. */
  tenant: string
}

interface BufferLimits {
  messages: number
  bytes: number
  ackWaitMs: number
  timers?: Timers
}

/** The messages a consumer has in memory, waiting or in flight. They are counted, and kept from being redelivered. */
interface MessageBuffer<T> {
  /**
   * `false` if the message is already in the buffer, or was done recently: the server missed a progress signal or an
   * ack.
   */
  add(buffered: BufferedMessage<T>): boolean
  /** The next messages in order, at most `maxCount`, without those of a queue key that is in flight. */
  next(maxCount: number): BufferedMessage<T>[]
  /** Whether `next` would return messages, and whether it would return `maxCount` of them. */
  ready(maxCount: number): 'none' | 'some' | 'full'
  /**
   * The free capacity that may be requested, and whether it is the whole buffer (nothing is in it); `undefined`
   * while it is too small for a request.
   */
  capacity(): { messages: number; bytes: number; isWhole: boolean } | undefined
  /** Removes a message that is settled, or returned for redelivery. */
  release(buffered: BufferedMessage<T>, how: 'done' | 'back'): void
  /** Removes and returns the messages that are not in flight. */
  rest(): BufferedMessage<T>[]
  /** The consumer was recreated: it redelivers waiting messages, and those in flight must not be acknowledged to it. */
  disown(): void
  close(): void
}

export function createMessageBuffer<T>(limits: BufferLimits): MessageBuffer<T> {
  const { timers = systemTimers } = limits
  let backlog: BufferedMessage<T>[] = []
  let all = new Map<string, BufferedMessage<T>>()
  const done = recentKeys(leastRemembered)
  const linesInHand = createKeyedCounts()
  let bytes = 0

  const isFree = (buffered: BufferedMessage<T>) =>
    'error' in buffered || linesInHand.of(buffered.queueKey) === 0
  const count = (buffered: BufferedMessage<T>, by: 1 | -1) => {
    if (!('error' in buffered)) linesInHand.add(buffered.queueKey, by)
  }
  let alive: Timer | undefined
  const keepAlive = () => {
    for (const { message } of all.values()) message.working()
    if (all.size > 0) return
    timers.clearInterval(alive)
    alive = undefined
  }

  const rest = () => {
    const left = backlog
    backlog = []
    for (const buffered of left) {
      all.delete(keyOf(buffered))
      bytes -= buffered.message.bytes
    }
    return left
  }

  return {
    add(buffered) {
      const key = keyOf(buffered)
      if (all.has(key)) return false
      if (done.has(key)) {
        buffered.message.ack()
        return false
      }
      all.set(key, buffered)
      alive ??= timers.setInterval(keepAlive, limits.ackWaitMs / 3)
      bytes += buffered.message.bytes
      backlog.push(buffered)
      return true
    },
    next(maxCount) {
      const batch: BufferedMessage<T>[] = []
      const left: BufferedMessage<T>[] = []
      for (const buffered of backlog)
        (batch.length < maxCount && isFree(buffered) ? batch : left).push(buffered)
      backlog = left
      for (const buffered of batch) count(buffered, 1)
      return batch
    },
    ready(maxCount) {
      if (linesInHand.total === 0)
        return backlog.length >= maxCount ? 'full' : backlog.length > 0 ? 'some' : 'none'
      let free = 0
      for (const buffered of backlog) if (isFree(buffered) && ++free >= maxCount) return 'full'
      return free > 0 ? 'some' : 'none'
    },
    capacity() {
      const left = {
        messages: limits.messages - all.size,
        bytes: limits.bytes - bytes,
        isWhole: all.size === 0,
      }
      return left.messages * 4 >= limits.messages && left.bytes * 4 >= limits.bytes ? left : undefined
    },
    release(buffered, how) {
      const key = keyOf(buffered)
      if (!all.delete(key)) return
      bytes -= buffered.message.bytes
      count(buffered, -1)
      // V8 links the tables a Map has outgrown, with their content: one in the old generation keeps all
      // later ones alive
      // (ADR 114).
      if (all.size === 0) all = new Map()
      if (how === 'done') done.add(key)
    },
    rest,
    disown() {
      rest()
      for (const { message } of all.values()) message.disown()
    },
    close: () => timers.clearInterval(alive),
  }
}

const leastRemembered = 2_000

/** The same sequence of a recreated stream is a different message. */
const keyOf = <T>({ message }: BufferedMessage<T>) => `${message.seq}/${message.storedMs}`
