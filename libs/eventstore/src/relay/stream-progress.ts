import { systemTimers, type Timers } from '@opsplane/runtime'
import { type StreamMark, superfluousMarks } from './stream-marks.js'

/** What this process knows of the stream: the marks, and how far it was acknowledged since. */
export interface StreamProgress {
  readonly marks: readonly StreamMark[]
  readonly generation: number
  /**
   * Where the stream ended when it was filled again and nothing in it could be relied on: no mark falls when messages up to there are
   * purged.
   */
  readonly unmarkedUpTo: number
  /** The highest sequence that was acknowledged. */
  readonly sequence: number
  acknowledged(sequence: number, messageId: string): void
  /** The message at this sequence is removed: marks that stand on it would fall, as if the stream had lost it. */
  removed(sequence: number): void
  /** The mark that goes with what is recorded now, and the numbers of those it makes superfluous. */
  mark(floor: number): { mark: StreamMark; superfluous: number[] }
}

/** So long the newest mark goes with the traffic; then it stays and another begins. */
const markMs = 1_000

/** `start`: up to this position everything is in the stream. */
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
  /** Up to this number marks stay as they are. */
  let kept: number | undefined

  let lastNumber = newest?.number ?? 0
  /** Numbers of marks that stand on nothing any more. */
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
      // The first is remembered by itself: it tells of what happens before a mark is recorded.
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
      const goesOn = last !== undefined && kept !== undefined && last.number > kept && now - last.at < markMs
      const number = goesOn ? last.number : next()
      const mark = { number, identity, generation, ...highest, floor, at: goesOn ? last.at : now }
      marks = [...(goesOn ? marks.slice(0, -1) : marks), mark]
      const crowded = goesOn ? [] : superfluousMarks(marks, now)
      marks = marks.filter((one) => !crowded.includes(one.number))
      const superfluous = [...crowded, ...fallen]
      // It replaces those that fall, so it stays: one that went on with the traffic would say nothing of what came before.
      if (fallen.length > 0) kept = number
      fallen = []
      return { mark, superfluous }
    },
  }
}
