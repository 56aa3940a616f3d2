import { duration } from '../format/times.js'
import { texts } from '../texts/en.js'
import { useNow } from './time.js'

/** Marks data as out of date because requests fail; shows since when. */
export function Stale({ sinceMs, className = 'list-stale small' }: { sinceMs: number; className?: string }) {
  const age = Math.max(useNow() - sinceMs, 1_000)
  return (
    <p className={className} role="status">
      {texts.common.stale(duration(age))}
    </p>
  )
}
