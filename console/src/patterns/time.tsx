import { useSyncExternalStore } from 'react'
import { exactTime, relativeTime } from '../format/times.js'

/** Common clock of all times on a page. */
let nowMs = Date.now()
const readers = new Set<() => void>()
setInterval(() => {
  nowMs = Date.now()
  for (const read of readers) read()
}, 5_000)

function subscribe(read: () => void): () => void {
  readers.add(read)
  return () => readers.delete(read)
}

export const useNow = (): number => useSyncExternalStore(subscribe, () => nowMs)

/** Relative time; the tooltip shows the exact time in the reader's time zone. */
export function Time({ at }: { at: string }) {
  // A time later than the page clock counts as now.
  const now = Math.max(useNow(), Math.min(Date.parse(at), Date.now()))
  return (
    <time dateTime={at} title={exactTime(at)} className="nowrap">
      {relativeTime(at, now)}
    </time>
  )
}

/** Exact time, followed by the relative time. */
export function ExactTime({ at }: { at: string }) {
  return (
    <span>
      {exactTime(at)}{' '}
      <span className="muted">
        · <Time at={at} />
      </span>
    </span>
  )
}
