/**
 * What the relay remembers of the stream: while the message at `sequence` is this one, everything of the log up to
 * `floor` is there, and of what lies above it whatever was taken out of the outbox by then. Without a message it is a
 * place where nothing was yet, and says that what was published since stands above it.
 */
export interface StreamMark {
  /** Grows from mark to mark. */
  number: number
  /** When the stream was made, which tells it from another of its name. */
  identity: string
  /** How often the stream has been filled again. */
  generation: number
  /** The highest acknowledged one; without a message, where the stream ended when it was first filled. */
  sequence: number
  messageId: string | null
  floor: number
  /** When it was made, by this process's monotonic clock. */
  at: number
}

/**
 * The numbers of marks that are not worth keeping: what has an older and a newer one close by, compared with its age.
 * What stays is dense for what is new and reaches back far: some two hundred marks for a week.
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
