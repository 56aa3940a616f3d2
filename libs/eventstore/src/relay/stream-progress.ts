import { systemTimers, type Timers } from '@opsplane/runtime'
import { type StreamMark, superfluousMarks } from './stream-marks.js'

/** This process's record of the stream: the marks, and the sequence acknowledged since. */
export interface StreamProgress {
  readonly marks: readonly StreamMark[]
  readonly generation: number
  /**
   * The last sequence when the stream was refilled because nothing in it could be relied on: no mark fails when
   * messages up to there are purged.
   */
  readonly unmarkedUpTo: number
  /** The highest acknowledged sequence. */
  readonly sequence: number
  acknowledged(sequence: number, messageId: string): void
  /**
   * The message at this sequence is deleted: its marks are dropped, because they would fail as if the stream had
   * lost it.
   */
  removed(sequence: number): void
  /** The mark to record now, and the numbers of the marks it makes superfluous. */
  mark(floor: number): { mark: StreamMark; superfluous: number[] }
}

/** How long the newest mark moves with the traffic before it stays and another begins. */
const markMs = 1_000

/** `start`: everything up to this position is in the stream. */
export function createStreamProgress(
  stored: readonly StreamMark[],
  identity: string,
  start: number,
  timers: Pick<Timers, 'now'> = systemTimers,
): StreamProgress {
  let marks = [...stored]
  const newest = marks.at(-1)
  const generation = newest?.generation ?? 0
  const filledAt = stored.find((one) => one.messageId === null && one.generation === generation)
  let highest = { sequence: newest?.sequence ?? 0, messageId: newest?.messageId ?? null }
  /** Marks up to this number stay unchanged. */
  let kept: number | undefined

  let lastNumber = newest?.number ?? 0
  /** Numbers of marks whose message was deleted. */
  let fallen: number[] = []

  const next = () => ++lastNumber
  return {
    get marks() {
      return marks
    },
    get sequence() {
      return highest.sequence
    },
    generation,
    unmarkedUpTo: generation > 0 ? (filledAt?.sequence ?? 0) : 0,
    acknowledged(sequence, messageId) {
      if (sequence > highest.sequence) highest = { sequence, messageId }
      if (kept !== undefined) return
      // The first mark is kept in memory only: it reveals losses that happen before a mark is recorded.
      kept = next()
      marks.push({ number: kept, identity, generation, ...highest, floor: start, at: timers.now() })
    },
    removed(sequence) {
      fallen.push(...marks.filter((one) => one.sequence === sequence).map(({ number }) => number))
      marks = marks.filter((one) => one.sequence !== sequence)
    },
    mark(floor) {
      const now = timers.now()
      const last = marks.at(-1)
      const canExtendLast =
        last !== undefined && kept !== undefined && last.number > kept && now - last.at < markMs
      const number = canExtendLast ? last.number : next()
      const mark = { number, identity, generation, ...highest, floor, at: canExtendLast ? last.at : now }
      marks = [...(canExtendLast ? marks.slice(0, -1) : marks), mark]
      const crowded = canExtendLast ? [] : superfluousMarks(marks, now)
      marks = marks.filter((one) => !crowded.includes(one.number))
      const superfluous = [...crowded, ...fallen]
      // This mark replaces the dropped ones and must stay: a mark that moves with the traffic says nothing
      // about earlier
      // messages.
      if (fallen.length > 0) kept = number
      fallen = []
      return { mark, superfluous }
    },
  }
}
