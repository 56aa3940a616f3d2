import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { streamInfo } from '@opsplane/nats'
import { systemTimers, type Timers } from '@opsplane/runtime'
import type { StreamMark } from './stream-marks.js'

/** The state of the stream compared with the marks. */
type StreamInspection = {
  /** Creation time of the stream. */
  identity: string
  /** The stream's first and last sequence. */
  first: number
  last: number
  maxAgeMs: number
} & (
  | { lost: undefined }
  /**
   * Messages above the newest mark that still holds (`standing`) may be missing; without such a mark, everything
   * younger than the stream's maximum age.
   */
  | { lost: string; standing: StreamMark | undefined }
)

const millisecondNs = 1e6
const messageIdHeader = 'Nats-Msg-Id'

/** What a process remembers of the stream in addition to the recorded marks. */
export interface StreamMemory {
  marks: readonly StreamMark[]
  /** When the stream was last found complete, by the monotonic clock. */
  since: number
}

/** A stream that events were published to was inspected at most this long before its newest mark. */
const maxInspectionLagMs = 6_000

/**
 * Compares the stream with the marks: whether it is the same stream, and whether the marked messages are at their
 * sequences. Several services publish to it, so a truncated stream may have grown again; and since the newest mark
 * moves with the traffic, all marks since the last inspection (`since`) are checked, and two before. `undefined`
 * if there is no stream.
 */
export async function inspectStream(
  manager: JetStreamManager,
  stream: string,
  marks: readonly StreamMark[],
  since = (marks.at(-1)?.at ?? 0) - maxInspectionLagMs,
  timers: Pick<Timers, 'now'> = systemTimers,
): Promise<StreamInspection | undefined> {
  const info = await streamInfo(manager, stream)
  if (!info) return undefined
  const found = {
    identity: String(info.created),
    first: info.state.first_seq,
    last: info.state.last_seq,
    maxAgeMs: info.config.max_age / millisecondNs,
  }
  const seen = marks.findLastIndex(({ at }) => at < since)
  /** Index of the oldest mark known not to hold any more. */
  let fallen = marks.length
  for (let index = marks.length - 1; index >= Math.max(0, seen - 1); index--) {
    const mark = marks[index]
    if (mark && !(await stands(manager, info, mark, timers))) fallen = index
  }
  if (fallen === marks.length) return { ...found, lost: undefined }
  for (const mark of marks.slice(0, fallen).toReversed())
    if (await stands(manager, info, mark, timers)) return { ...found, lost: 'it was cut', standing: mark }
  const isSame = marks.at(-1)?.identity === found.identity
  const lost = isSame ? 'it is without what was published' : 'it is another one'
  return { ...found, lost, standing: undefined }
}

async function stands(
  manager: JetStreamManager,
  info: StreamInfo,
  mark: StreamMark,
  timers: Pick<Timers, 'now'>,
): Promise<boolean> {
  const { first_seq: first, last_seq: last } = info.state
  if (String(info.created) !== mark.identity) return false
  if (mark.sequence > last) return false
  if (mark.messageId === null) return first <= mark.sequence + 1 || hasAgedOut(info, mark, timers)
  if (mark.sequence < first) return hasAgedOut(info, mark, timers)
  const message = await manager.streams.getMessage(info.config.name, { seq: mark.sequence })
  return message?.header.get(messageIdHeader) === mark.messageId
}

/** Whether the stream's limits explain a missing message; otherwise the stream was purged. */
function hasAgedOut({ config, state }: StreamInfo, { at }: StreamMark, timers: Pick<Timers, 'now'>): boolean {
  const ageMs = timers.now() - at
  if (config.max_age > 0 && ageMs >= config.max_age / millisecondNs) return true
  if (config.max_msgs_per_subject > 0) return true
  return isHalfFull(state.bytes, config.max_bytes) || isHalfFull(state.messages, config.max_msgs)
}

const isHalfFull = (used: number, limit: number): boolean => limit > 0 && used >= limit / 2
