import { type ChangedType, changedPermissions, reachesRecords } from '@opsplane/contracts'
import { idleIntervalMs } from '@opsplane/runtime'
import { anyChanged, type ChangedFrame } from './gathered-changes.js'
import { isFor, type LiveEvent, type Reader } from './live-event.js'

/** Maximum bytes buffered in memory for a reader. Beyond that, events are read from the log again once there is room. */
const maxBytes = 1024 * 1024
/** A reader that accepts nothing for this time, in milliseconds, is disconnected if its buffer overflows. */
const stuckMs = 30_000

export interface FrameQueueOptions extends Reader {
  /** Whether row rules hide records from the reader. Throws if that cannot be determined. */
  hidesRecords(): Promise<boolean>
  /** Disconnects a reader that accepts no more data. */
  cut(): void
}

export type FrameQueue = ReturnType<typeof createFrameQueue>

/** Queue of the frames for one reader. */
export function createFrameQueue({ hidesRecords, cut, ...reader }: FrameQueueOptions) {
  const { query, permissions } = reader
  let events: LiveEvent[] = []
  let changes = new Map<ChangedType, string>()
  let bytes = 0
  let seq = 0
  let hasMissed = false
  /** Time at which the reader was sent its last frame, if it has not requested more since. */
  let sentAt: number | undefined
  let isFilled = false
  let wake: (() => void) | undefined

  const clear = () => {
    events = []
    changes = new Map()
    bytes = 0
    isFilled = false
  }

  const notify = () => {
    isFilled = true
    wake?.()
  }

  return {
    add(added: readonly LiveEvent[]) {
      seq = added.at(-1)?.seq ?? seq
      const matchingEvents = added.filter((event) => isFor(reader, event))
      for (const { frame } of matchingEvents) bytes += frame.length
      if (!hasMissed && bytes <= maxBytes) events.push(...matchingEvents)
      else if (bytes > maxBytes) {
        hasMissed = true
        events = []
        if (sentAt !== undefined && performance.now() - sentAt > idleIntervalMs(stuckMs)) cut()
      }
      if (matchingEvents.length > 0) notify()
    },
    /**
     * Signals that the reader has not received yet are merged to one message per type, with which pages reload all
     * resources of the type.
     */
    addChanged({ type, frame }: ChangedFrame) {
      if (query.changed === 'false' || !permissions.includes(changedPermissions[type])) return
      changes.set(type, changes.has(type) ? anyChanged(type).frame : frame)
      notify()
    },
    /** Yields a frame to the reader, which requests the next one once it has room. */
    *send(frame: string): Generator<string> {
      sentAt = performance.now()
      yield frame
      sentAt = undefined
    },
    /** Resolves when there is something to send, or when `wake` is called; `undefined` if there already is something. */
    filled(): Promise<void> | undefined {
      if (isFilled) return undefined
      return new Promise((resolve) => {
        wake = () => {
          wake = undefined
          resolve()
        }
      })
    },
    wake: () => wake?.(),
    /**
     * Removes and returns the queued frames and the position of the last event (0 if none). If `events` is `undefined`,
     * the buffer overflowed and the events must be read from the log.
     */
    take(): { events: LiveEvent[] | undefined; seq: number; changed: string } {
      const changed = [...changes.values()].join('')
      const batch = { events: hasMissed ? undefined : events, seq, changed }
      hasMissed = false
      clear()
      return batch
    },
    /**
     * The frames of the events this reader may see. Row rules are checked whenever records are included, because the
     * rules may have changed.
     */
    async textOf(found: readonly LiveEvent[]): Promise<string> {
      const matchingEvents = found.filter((event) => isFor(reader, event))
      const showsRecords = matchingEvents.some(isOfRecord) && !(await hidesRecords())
      const shown = matchingEvents.filter((event) => showsRecords || !isOfRecord(event))
      return shown.map(({ frame }) => frame).join('')
    },
  }
}

const isOfRecord = ({ event }: LiveEvent) => reachesRecords({ events: [event.type] })
