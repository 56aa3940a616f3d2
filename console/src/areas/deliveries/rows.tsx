import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Delivery } from '../../api/api.js'
import { webhooksQuery } from '../../api/queries.js'
import { State } from '../../patterns/state.js'
import { Time } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { Outcome } from './deliveries.js'

interface RowsProps {
  deliveries: readonly Delivery[]
  /** The property that identifies a row: the event type, or the webhook for deliveries of one event. */
  by?: 'event' | 'webhook'
}

/** A short list of deliveries within another page. */
export function DeliveryRows({ deliveries, by = 'event' }: RowsProps) {
  const { place } = usePlace()
  const { data: webhooks = [] } = useQuery({ ...webhooksQuery(place), enabled: by === 'webhook' })
  const nameOf = ({ webhookId, url }: Delivery) => webhooks.find(({ id }) => id === webhookId)?.name ?? url
  return (
    <ul className="rows">
      {deliveries.map((delivery) => (
        <li key={delivery.id} className="rows-row">
          <State of={delivery.status} />
          <Link
            to="/w/$workspace/$environment/deliveries/$webhookId/$deliveryId"
            params={{ ...place, webhookId: delivery.webhookId, deliveryId: delivery.id }}
            className="row-link ellipsis"
          >
            {by === 'event' ? delivery.eventType : nameOf(delivery)}
          </Link>
          <Outcome {...delivery} />
          <span className="muted number">
            <Time at={delivery.createdAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}
