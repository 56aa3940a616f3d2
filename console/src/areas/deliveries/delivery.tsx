import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { apiPath, type DeliveryDetail } from '../../api/api.js'
import { deliveryQuery, webhookQuery } from '../../api/queries.js'
import { duration, relativeTime } from '../../format/times.js'
import { Id } from '../../patterns/copy.js'
import { AsCurl } from '../../patterns/curl.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { State } from '../../patterns/state.js'
import { ExactTime, Time, useNow } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { Attempts } from './attempts.js'
import { describeCause, remedyFor } from './causes.js'
import { isReplaying, Resend } from './resend.js'

const route = getRouteApi('/w/$workspace/$environment/deliveries/$webhookId/$deliveryId')
const words = texts.deliveries

/** One delivery: its history, the cause of a failure, and the available actions. */
export function DeliveryPage() {
  const { webhookId, deliveryId } = route.useParams()
  const { place } = usePlace()
  const query = useQuery(deliveryQuery(place, webhookId, deliveryId))
  const { data } = query
  const closed = { to: '/w/$workspace/$environment/deliveries', params: place, search: true } as const
  const request = { path: `${apiPath}/webhooks/${webhookId}/deliveries/${deliveryId}` }
  return (
    <>
      <DetailHead title={data?.eventType ?? words.facts.id} closed={closed}>
        {data && <Resend delivery={data} />}
        <AsCurl request={request} />
      </DetailHead>
      <DetailBody query={query}>
        {(data) => (
          <>
            <Story delivery={data} />
            <DeliveryFacts delivery={data} />
            <Replays delivery={data} />
            <Attempts key={data.id} delivery={data} />
          </>
        )}
      </DetailBody>
    </>
  )
}

function Story({ delivery }: { delivery: DeliveryDetail }) {
  const now = useNow()
  const { may } = usePlace()
  return (
    <div className="story">
      <State of={delivery.status} />
      <div>
        <p aria-live="polite">
          {storyOf(delivery, now)}
          {delivery.status === 'failed' && (
            <span className="muted"> {isReplaying(delivery) ? words.replaying : remedyFor(delivery)}</span>
          )}
        </p>
        {delivery.status === 'failed' && may('webhooks:write') && (
          <p className="small muted story-help">
            {words.retryHint} {words.replayHint}
          </p>
        )}
      </div>
    </div>
  )
}

function storyOf(delivery: DeliveryDetail, now: number): string {
  const { status, attempts, lastResponseStatus, nextAttemptAt } = delivery
  const story = words.story
  switch (status) {
    case 'succeeded':
      return story.succeeded(attempts, lastResponseStatus)
    case 'failed':
      return story.failed(attempts, describeCause(delivery))
    case 'retrying':
      return story.retrying(
        attempts,
        describeCause(delivery),
        nextAttemptAt === null ? undefined : relativeTime(nextAttemptAt, now),
      )
    case 'pending':
      return attempts === 0 ? story.pending : story.again
    case 'held':
      return story.held
  }
}

function DeliveryFacts({ delivery }: { delivery: DeliveryDetail }) {
  const { place } = usePlace()
  const { id, webhookId, eventId, url, createdAt, nextAttemptAt, replayOf, lastDurationMs } = delivery
  const { data: webhook } = useQuery(webhookQuery(place, webhookId))
  const names = words.facts
  return (
    <Facts
      facts={[
        [names.id, <Id key="id" value={id} />],
        [
          names.event,
          <Link
            key="event"
            to="/w/$workspace/$environment/events/$eventId"
            params={{ ...place, eventId }}
            className="link mono ellipsis"
          >
            {eventId}
          </Link>,
        ],
        [
          names.webhook,
          <Link
            key="webhook"
            to="/w/$workspace/$environment/webhooks/$webhookId"
            params={{ ...place, webhookId }}
            className="link ellipsis"
          >
            {webhook?.name ?? webhookId}
          </Link>,
        ],
        [
          names.url,
          <span key="url" className="mono ellipsis" title={url}>
            {url}
          </span>,
        ],
        [names.created, <ExactTime key="created" at={createdAt} />],
        [names.next, nextAttemptAt && <ExactTime at={nextAttemptAt} />],
        [names.duration, lastDurationMs === null ? undefined : duration(lastDurationMs)],
        [
          names.replayOf,
          replayOf && (
            <Link
              to="/w/$workspace/$environment/deliveries/$webhookId/$deliveryId"
              params={{ ...place, webhookId, deliveryId: replayOf }}
              search={true}
              className="link mono ellipsis"
            >
              {replayOf}
            </Link>
          ),
        ],
      ]}
    />
  )
}

/** Replays of this delivery; the page of a replay links back to its original. */
function Replays({ delivery: { webhookId, replays, replayCount } }: { delivery: DeliveryDetail }) {
  const { place } = usePlace()
  if (replays.length === 0) return null
  return (
    <section>
      <header className="section-head">
        <h3>{words.facts.replays}</h3>
        <span className="muted">{replayCount > replays.length && words.replaysInAll(replayCount)}</span>
      </header>
      <ul className="rows rows-replays">
        {replays.map(({ id, status, createdAt }) => (
          <li key={id} className="rows-row">
            <State of={status} />
            <Link
              to="/w/$workspace/$environment/deliveries/$webhookId/$deliveryId"
              params={{ ...place, webhookId, deliveryId: id }}
              search={true}
              className="row-link link mono ellipsis"
            >
              {id}
            </Link>
            <span className="muted number">
              <Time at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
