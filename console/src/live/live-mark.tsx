import { duration } from '../format/times.js'
import { useNow } from '../patterns/time.js'
import { texts } from '../texts/en.js'
import { computeLiveness } from './live-view.js'
import { silenceMs } from './reader.js'
import { useLive } from './use-live.js'

const words = texts.live

/** Shows in one word whether the page is up to date. */
export function LiveMark() {
  const status = useLive()
  const now = Math.max(useNow(), status?.heardMs ?? 0)
  if (status === undefined) return null
  const liveness = computeLiveness(status, now, silenceMs)
  return (
    <span className="live" data-liveness={liveness} title={words.help[liveness]}>
      <i aria-hidden="true" />
      <span className="live-word" role="status">
        {words.states[liveness]}
      </span>
      {liveness === 'stale' && <span>{duration(Math.max(now - status.heardMs, 1_000))}</span>}
    </span>
  )
}
