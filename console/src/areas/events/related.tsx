import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AuditEvent } from '../../api/api.js'
import { relatedEventsQuery } from '../../api/queries.js'
import { duration, exactTime } from '../../format/times.js'
import { Problem } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { ResourceName } from './resource-name.js'

const words = texts.events

/** What the request of an event has caused, as it went on from its first event. */
export function Related({ event }: { event: AuditEvent }) {
  if (event.requestId === null) return <p className="muted detail-nothing">{words.noRequest}</p>
  return <Timeline event={event} requestId={event.requestId} />
}

function Timeline({ event, requestId }: { event: AuditEvent; requestId: string }) {
  const { place } = usePlace()
  const { data = [], error, isSuccess, refetch } = useQuery(relatedEventsQuery(place, requestId))
  if (error && !isSuccess) return <Problem error={error} onRetry={() => void refetch()} />
  if (isSuccess && data.length < 2) return <p className="muted detail-nothing">{words.alone}</p>
  const begun = Date.parse(data[0]?.createdAt ?? event.createdAt)
  return (
    <ol className="timeline">
      {data.map((each) => (
        <li key={each.id} className="timeline-step" aria-current={each.id === event.id || undefined}>
          <span className="muted number" title={exactTime(each.createdAt)}>
            +{duration(Date.parse(each.createdAt) - begun)}
          </span>
          <i aria-hidden="true" />
          <Link
            to="/w/$workspace/$environment/events/$eventId"
            params={{ ...place, eventId: each.id }}
            search={true}
            className="row-link"
          >
            {each.type}
          </Link>
          <span className="muted ellipsis">
            <ResourceName event={each} />
          </span>
        </li>
      ))}
    </ol>
  )
}
