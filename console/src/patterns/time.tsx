import { useSyncExternalStore } from 'react'
import { exactTime, relativeTime } from '../format/times.js'

/** One clock for all times of a page. */
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

/** How long ago; exact, with the zone of the reader, on hover. */
export function Time({ at }: { at: string }) {
  // What is newer than the clock of the page is of now.
  const now = Math.max(useNow(), Math.min(Date.parse(at), Date.now()))
  return (
    <time dateTime={at} title={exactTime(at)} className="nowrap">
      {relativeTime(at, now)}
    </time>
  )
}

/** Exact, and how long ago that is. */
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
