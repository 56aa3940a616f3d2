import type { Delivery } from '../../api/api.js'
import { texts } from '../../texts/en.js'
import { computeHealth } from './health.js'

type Shown = Pick<Delivery, 'id' | 'replayOf' | 'status' | 'lastDurationMs' | 'attempts'>

interface BarsProps {
  /** Newest first, as in lists; drawn with the newest on the right. */
  deliveries: readonly Shown[]
  count: number
  isLarge?: boolean
}

/** One bar for each of the latest deliveries, coloured by its status; the height of large bars shows the duration. */
export function Bars({ deliveries, count, isLarge = false }: BarsProps) {
  const shown = deliveries.slice(0, count).reverse()
  const { succeededShare, total } = computeHealth(shown)
  const label =
    succeededShare === undefined
      ? texts.webhooks.noDeliveries
      : `${texts.webhooks.ofLast(total)}: ${succeededShare} % ${texts.webhooks.succeededShare}`
  const longest = Math.max(...shown.map(({ lastDurationMs }) => lastDurationMs ?? 0), 1)
  const heightOf = ({ lastDurationMs }: Shown) => 30 + ((lastDurationMs ?? 0) / longest) * 70
  const missing = Math.max(count - shown.length, 0)
  return (
    <span className={`bars ${isLarge ? 'bars-large' : ''}`} role="img" aria-label={label} title={label}>
      {Array.from({ length: missing }, (_, index) => (
        <i key={index} className="bar-none" />
      ))}
      {shown.map((delivery) => (
        <i
          key={delivery.id}
          className={`bar-${delivery.status}`}
          style={isLarge ? { height: `${heightOf(delivery)}%` } : undefined}
        />
      ))}
    </span>
  )
}
