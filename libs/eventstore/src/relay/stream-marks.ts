/**
 * A record of the stream's content. While the message at `sequence` is the recorded one, the stream contains
 * everything in the log up to `floor`, and those events above it that had been deleted from the outbox by then. A
 * mark without a message records that the stream was empty there: everything published since is above it.
 */
export interface StreamMark {
  /** Increases from mark to mark. */
  number: number
  /** Creation time of the stream, which distinguishes it from another one of the same name. */
  identity: string
  /** How often the stream has been refilled. */
  generation: number
  /** The highest acknowledged sequence; without a message, the last sequence when the stream was first filled. */
  sequence: number
  messageId: string | null
  floor: number
  /** When the mark was made, by this process's monotonic clock. */
  at: number
}

/**
 * The numbers of marks that can be deleted: those whose older and newer neighbours are close, compared with their
 * age. The remaining marks are dense for recent times and reach far back: about two hundred marks for a week.
 */
export function superfluousMarks(marks: readonly StreamMark[], now: number): number[] {
  const superfluous: number[] = []
  let newer = marks.at(-1)
  for (let index = marks.length - 2; index > 0; index--) {
    const [mark, older] = [marks[index], marks[index - 1]]
    if (!mark || !older || !newer) break
    if (newer.at - older.at < (now - mark.at) / 8) superfluous.push(mark.number)
    else newer = mark
  }
  return superfluous
}
