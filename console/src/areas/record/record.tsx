import { stringifyExact } from '@opsplane/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Navigate } from '@tanstack/react-router'
import { apiPath, callOrigin, type Resolved } from '../../api/api.js'
import { resolveReference, toApiAddress } from '../../api/resolve.js'
import { Code } from '../../patterns/json.js'
import { DetailBody, PageHead } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const route = getRouteApi('/w/$workspace/$environment/record/$reference')
const words = texts.record

/** Opens the page of the record that an id or number refers to; shows its API representation if it has no page yet. */
export function RecordPage() {
  const { reference } = route.useParams()
  const { place } = usePlace()
  const resolved = useQuery({
    queryKey: [place.workspace, place.environment, 'resolve', reference],
    queryFn: ({ signal }) => resolveReference(place, reference, signal),
  })
  return (
    <>
      <PageHead
        title={resolved.data?.title ?? reference}
        figures={resolved.data?.type}
        request={{ path: `${apiPath}/resolve/${reference}` }}
      />
      <DetailBody query={resolved}>{(found) => <Found found={found} />}</DetailBody>
    </>
  )
}

function Found({ found }: { found: Resolved }) {
  const { place } = usePlace()
  const { type, id } = found
  const replace = true
  if (type === 'event')
    return (
      <Navigate
        to="/w/$workspace/$environment/events/$eventId"
        params={{ ...place, eventId: id }}
        replace={replace}
      />
    )
  if (type === 'webhook')
    return (
      <Navigate
        to="/w/$workspace/$environment/webhooks/$webhookId"
        params={{ ...place, webhookId: id }}
        replace={replace}
      />
    )
  return <Raw found={found} />
}

function Raw({ found: { type, id, href, eventsHref } }: { found: Resolved }) {
  const { place } = usePlace()
  const { data, error, refetch } = useQuery({
    queryKey: [place.workspace, place.environment, type, id, 'raw'],
    queryFn: ({ signal }) =>
      callOrigin<{ data: { webhookId?: string } }>(place, toApiAddress(href ?? ''), { signal }),
    enabled: href !== null,
  })
  // The page of a delivery is nested below its webhook, whose id is not part of the delivery id.
  if (type === 'delivery' && data?.data.webhookId !== undefined)
    return (
      <Navigate
        to="/w/$workspace/$environment/deliveries/$webhookId/$deliveryId"
        params={{ ...place, webhookId: data.data.webhookId, deliveryId: id }}
        replace
      />
    )
  return (
    <>
      <header className="section-head">
        <h3 className="mono">{id}</h3>
        <span className="grow" />
        {eventsHref !== null && (
          <Link
            to="/w/$workspace/$environment/events"
            params={place}
            search={{ resource: id }}
            className="link"
          >
            {words.events}
          </Link>
        )}
      </header>
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {href === null && <p className="muted detail-nothing">{words.none}</p>}
      {data && <Code text={stringifyExact(data.data)} label={words.raw} />}
    </>
  )
}
