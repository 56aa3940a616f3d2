import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AuditEvent, Delivery } from '../../api/api.js'
import { causesQuery, eventDeliveriesQuery, relatedEventsQuery, webhooksQuery } from '../../api/queries.js'
import { duration, exactTime } from '../../format/times.js'
import { DetailSkeleton } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { State } from '../../patterns/state.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { ResourceName } from './resource-name.js'
import { buildTimeline, type Step } from './timeline.js'

const words = texts.events

/** The causes of an event, other events of its request, and its deliveries, in chronological order. */
export function Related({ event }: { event: AuditEvent }) {
  const { place } = usePlace()
  const { id, requestId, causationId } = event
  const related = useQuery({
    ...relatedEventsQuery(place, requestId ?? ''),
    enabled: requestId !== null,
  })
  const causes = useQuery({ ...causesQuery(place, causationId ?? ''), enabled: causationId !== null })
  const deliveries = useQuery(eventDeliveriesQuery(place, id))
  // Provides the names of webhooks for the deliveries.
  const webhooks = useQuery(webhooksQuery(place))
  const isPending = [
    requestId !== null && related.isPending,
    causationId !== null && causes.isPending,
    deliveries.isPending,
    webhooks.isPending,
  ].some(Boolean)
  const steps = buildTimeline({
    events: [event, ...(related.data ?? []), ...(causes.data ?? [])],
    deliveries: deliveries.data ?? [],
  })
  const failed = [related, causes, deliveries].find(({ error, data }) => error && !data)
  const begun = steps[0]?.atMs ?? 0
  return (
    <>
      {failed && <Problem error={failed.error} onRetry={() => void failed.refetch()} />}
      {!isPending && !failed && steps.length === 1 && (
        <p className="muted detail-nothing">{requestId === null ? words.noRequest : words.alone}</p>
      )}
      {isPending && !failed && <DetailSkeleton />}
      {!isPending && steps.length > 1 && (
        <ol className="timeline">
          {steps.map((step) => (
            <li key={step.id} className="timeline-step" aria-current={step.id === id || undefined}>
              <span className="muted number" title={exactTime(step.at)}>
                +{duration(step.atMs - begun)}
              </span>
              <i aria-hidden="true" />
              <StepLine step={step} />
            </li>
          ))}
        </ol>
      )}
    </>
  )
}

function StepLine({ step }: { step: Step }) {
  const { place } = usePlace()
  if (step.kind === 'delivery') return <DeliveryLine delivery={step.delivery} />
  return (
    <>
      <Link
        to="/w/$workspace/$environment/events/$eventId"
        params={{ ...place, eventId: step.id }}
        search={true}
        className="row-link ellipsis"
      >
        {step.event.type}
      </Link>
      <span className="muted ellipsis">
        <ResourceName event={step.event} />
      </span>
    </>
  )
}

function DeliveryLine({ delivery: { id, webhookId, url, status, replayOf } }: { delivery: Delivery }) {
  const { place } = usePlace()
  const { data = [] } = useQuery(webhooksQuery(place))
  const name = data.find((webhook) => webhook.id === webhookId)?.name ?? url
  return (
    <>
      <Link
        to="/w/$workspace/$environment/deliveries/$webhookId/$deliveryId"
        params={{ ...place, webhookId, deliveryId: id }}
        className="row-link ellipsis"
        title={url}
        dir="auto"
      >
        {(replayOf === null ? words.delivered : words.replayed)(name)}
      </Link>
      <State of={status} />
    </>
  )
}
