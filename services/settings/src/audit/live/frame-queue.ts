import { type ChangedType, changedPermissions, reachesRecords } from '@opsplane/contracts'
import { idleIntervalMs } from '@opsplane/runtime'
import { anyChanged, type ChangedFrame } from './gathered-changes.js'
import { isFor, type LiveEvent, type Reader } from './live-event.js'

/** What waits for a reader in memory; what is more is read from the log again, once there is room for it. */
const maxBytes = 1024 * 1024
/** A reader that takes nothing for so long, while there is more for it than that, is cut. */
const stuckMs = 30_000

export interface FrameQueueOptions extends Reader {
  /** Whether row rules hide records from the reader. Throws where that is not known. */
  hidesRecords(): Promise<boolean>
  /** Called when the reader does not take what is sent. */
  cut(): void
}

export type FrameQueue = ReturnType<typeof createFrameQueue>

/** What is still to be sent to one reader. */
export function createFrameQueue({ hidesRecords, cut, ...reader }: FrameQueueOptions) {
  const { query, permissions } = reader
  let events: LiveEvent[] = []
  let changes = new Map<ChangedType, string>()
  let bytes = 0
  let seq = 0
  let hasMissed = false
  /** Since when the reader has what it was sent last, and has not asked for more. */
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
      const wanted = added.filter((event) => isFor(reader, event))
      for (const { frame } of wanted) bytes += frame.length
      if (!hasMissed && bytes <= maxBytes) events.push(...wanted)
      else if (bytes > maxBytes) {
        hasMissed = true
        events = []
        if (sentAt !== undefined && performance.now() - sentAt > idleIntervalMs(stuckMs)) cut()
      }
      if (wanted.length > 0) notify()
    },
    /** What the reader has not taken yet is one message for each type, by which pages read all of it again. */
    addChanged({ type, frame }: ChangedFrame) {
      if (query.changed === 'false' || !permissions.includes(changedPermissions[type])) return
      changes.set(type, changes.has(type) ? anyChanged(type).frame : frame)
      notify()
    },
    /** Hands a frame to the reader, which asks for more once it has room. */
    *send(frame: string): Generator<string> {
      sentAt = performance.now()
      yield frame
      sentAt = undefined
    },
    /** Resolves when there is something to send, or `wake` is called. */
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
    /** All that waits, and the place of the last event that came, 0 without one; without `events` they are to be read from the log. */
    take(): { events: LiveEvent[] | undefined; seq: number; changed: string } {
      const changed = [...changes.values()].join('')
      const taken = { events: hasMissed ? undefined : events, seq, changed }
      hasMissed = false
      clear()
      return taken
    },
    /** Those for the reader, as they are sent. Row rules are asked for when records are among them, as they may be new. */
    async textOf(found: readonly LiveEvent[]): Promise<string> {
      const wanted = found.filter((event) => isFor(reader, event))
      const showsRecords = wanted.some(isOfRecord) && !(await hidesRecords())
      const shown = wanted.filter((event) => showsRecords || !isOfRecord(event))
      return shown.map(({ frame }) => frame).join('')
    },
  }
}

const isOfRecord = ({ event }: LiveEvent) => reachesRecords({ events: [event.type] })
