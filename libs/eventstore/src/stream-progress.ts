import { type StreamMark, superfluousMarks } from './stream-marks.js'

/** What this process knows of the stream: the marks, and how far it was acknowledged since. */
export interface StreamProgress {
  readonly marks: readonly StreamMark[]
  readonly generation: number
  /** The highest sequence that was acknowledged. */
  readonly sequence: number
  acknowledged(sequence: number, messageId: string): void
  /** The mark that goes with what is recorded now, and the numbers of those it makes superfluous. */
  mark(floor: number): { mark: StreamMark; superfluous: number[] }
}

/** So long the newest mark goes with the traffic; then it stays and another begins. */
const markMs = 1_000

export function createStreamProgress(stored: readonly StreamMark[], identity: string): StreamProgress {
  let marks = [...stored]
  const newest = marks.at(-1)
  const generation = newest?.generation ?? 0
  let highest = { sequence: newest?.sequence ?? 0, messageId: newest?.messageId ?? null }
  return {
    get marks() {
      return marks
    },
    get sequence() {
      return highest.sequence
    },
    generation,
    acknowledged(sequence, messageId) {
      if (sequence > highest.sequence) highest = { sequence, messageId }
    },
    mark(floor) {
      const now = performance.now()
      const last = marks.at(-1)
      const goesOn = last !== undefined && last !== newest && now - last.at < markMs
      const number = goesOn ? last.number : (last?.number ?? 0) + 1
      const mark = { number, identity, generation, ...highest, floor, at: goesOn ? last.at : now }
      if (goesOn) marks = [...marks.slice(0, -1), mark]
      else marks = [...marks, mark]
      const superfluous = goesOn ? [] : superfluousMarks(marks, now)
      marks = marks.filter((kept) => !superfluous.includes(kept.number))
      return { mark, superfluous }
    },
  }
}
