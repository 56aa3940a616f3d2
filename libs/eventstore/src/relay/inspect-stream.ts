import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { streamInfo } from '@opsplane/nats'
import { systemTimers, type Timers } from '@opsplane/runtime'
import type { StreamMark } from './stream-marks.js'

/** What has become of the stream since the marks were made. */
type StreamInspection = {
  /** When the stream was made. */
  identity: string
  /** The sequences it goes from and to. */
  first: number
  last: number
  maxAgeMs: number
} & (
  | { lost: undefined }
  /** What is above the newest mark that stands may be missing; without one, everything younger than the stream's age. */
  | { lost: string; standing: StreamMark | undefined }
)

const millisecondNs = 1e6
const messageIdHeader = 'Nats-Msg-Id'

/** What a process remembers of the stream, more than is recorded. */
export interface StreamMemory {
  marks: readonly StreamMark[]
  /** When the stream was last found sound, by the monotonic clock. */
  since: number
}

/** So long before its newest mark at the most a stream was looked at that events went to. */
const lookedAtMs = 6_000

/**
 * Compares the stream with what the marks remember of it: whether it is the same, and whether the messages stand where
 * they stood. Several services publish to it, so one that was cut may have grown again; and as the newest mark goes with
 * the traffic, all since the last look, `since`, are looked at, and two before. Undefined when there is no stream.
 */
export async function inspectStream(
  manager: JetStreamManager,
  stream: string,
  marks: readonly StreamMark[],
  since = (marks.at(-1)?.at ?? 0) - lookedAtMs,
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
  /** The oldest mark that is known not to stand. */
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

/** Whether the stream's limits explain that a message has gone; otherwise the stream was purged. */
function hasAgedOut({ config, state }: StreamInfo, { at }: StreamMark, timers: Pick<Timers, 'now'>): boolean {
  const ageMs = timers.now() - at
  if (config.max_age > 0 && ageMs >= config.max_age / millisecondNs) return true
  if (config.max_msgs_per_subject > 0) return true
  return isHalfFull(state.bytes, config.max_bytes) || isHalfFull(state.messages, config.max_msgs)
}

const isHalfFull = (used: number, limit: number): boolean => limit > 0 && used >= limit / 2
