import { stringifyExact } from '@opsplane/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type AuditEvent, apiPath } from '../../api/api.js'
import { eventQuery } from '../../api/queries.js'
import { Id } from '../../patterns/copy.js'
import { AsCurl } from '../../patterns/curl.js'
import { DetailTabs } from '../../patterns/detail-tabs.js'
import { Code } from '../../patterns/json.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { ExactTime } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { auditEntrySearch } from '../search.js'
import { Changes } from './changes.js'
import { Consumers } from './consumers.js'
import { Related } from './related.js'
import { ResourceName } from './resource-name.js'

const route = getRouteApi('/w/$workspace/$environment/events/$eventId')
const words = texts.events
const tabs = ['changes', 'deliveries', 'related', 'raw'] as const
type Tab = (typeof tabs)[number]

/** One event: actor, resource, changes, recipients, and other events of the same request. */
export function EventPage() {
  const { eventId } = route.useParams()
  const { place } = usePlace()
  const query = useQuery(eventQuery(place, eventId))
  const { data } = query
  const closed = { to: '/w/$workspace/$environment/events', params: place, search: true } as const
  return (
    <>
      <DetailHead title={data?.type ?? words.facts.id} closed={closed}>
        <AsCurl request={{ path: `${apiPath}/audit/${eventId}` }} />
      </DetailHead>
      <DetailBody query={query}>{(data) => <Detail event={data} />}</DetailBody>
    </>
  )
}

function Detail({ event }: { event: AuditEvent }) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const tab = tabs.find((each) => each === search.tab) ?? 'changes'
  const choose = (next: Tab) => void navigate({ to: '.', search: { ...search, tab: next }, replace: true })
  return (
    <>
      <div className="story story-event">
        <p>
          <ResourceName event={event} />
        </p>
      </div>
      <EventFacts event={event} />
      <DetailTabs tabs={tabs.map((each) => [each, words.tabs[each]])} chosen={tab} onChoose={choose} />
      {tab === 'changes' && <Changes event={event} />}
      {tab === 'deliveries' && <Consumers eventId={event.id} />}
      {tab === 'related' && <Related event={event} />}
      {tab === 'raw' && <Code text={stringifyExact(event)} label={words.tabs.raw} />}
    </>
  )
}

function EventFacts({ event }: { event: AuditEvent }) {
  const { place } = usePlace()
  const { resource, actor, requestId, causationId, source, version, seq, hash, createdAt } = event
  const names = words.facts
  const to = '/w/$workspace/$environment/events'
  return (
    <Facts
      facts={[
        [names.id, <Id key="id" value={event.id} />],
        [names.at, <ExactTime key="at" at={createdAt} />],
        [
          names.resource,
          <span key="resource" className="row">
            <Link
              to="/w/$workspace/$environment/record/$reference"
              params={{ ...place, reference: resource.id }}
              className="link mono ellipsis"
            >
              {resource.id}
            </Link>
            <Link to={to} params={place} search={{ resource: resource.id }} className="link nowrap">
              {words.moreOf}
            </Link>
          </span>,
        ],
        [names.who, `${actor.name} (${actor.type.replace('_', ' ')})`],
        [
          names.request,
          requestId && (
            <span className="row">
              <Id value={requestId} />
              <Link to={to} params={place} search={{ request: requestId }} className="link nowrap">
                {words.moreOfRequest}
              </Link>
            </span>
          ),
        ],
        [
          names.cause,
          causationId && (
            <Link
              to="/w/$workspace/$environment/events/$eventId"
              params={{ ...place, eventId: causationId }}
              search={true}
              className="link mono ellipsis"
            >
              {causationId}
            </Link>
          ),
        ],
        [names.from, source && <span title={source.userAgent}>{source.address}</span>],
        [names.version, version],
        [
          names.seq,
          <span key="seq" className="row">
            <Link
              to="/w/$workspace/$environment/audit"
              params={place}
              search={auditEntrySearch(event)}
              className="link"
            >
              #{seq}
            </Link>
            <code className="muted ellipsis" title={hash}>
              {hash.slice(0, 12)}
            </code>
          </span>,
        ],
      ]}
    />
  )
}
