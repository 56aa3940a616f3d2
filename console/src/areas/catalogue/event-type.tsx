import { stringifyExact } from '@opsplane/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { apiPath, createApi } from '../../api/api.js'
import { AsCurl } from '../../patterns/curl.js'
import { Code } from '../../patterns/json.js'
import { DetailBody, DetailHead } from '../../patterns/page.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const route = getRouteApi('/w/$workspace/$environment/catalogue/$eventType')
const words = texts.catalogue

/** One event type: when its events occur, and their format. */
export function EventTypePage() {
  const { eventType: type } = route.useParams()
  const { place } = usePlace()
  const query = useQuery({
    queryKey: ['event-type', type],
    queryFn: async ({ signal }) =>
      (await createApi(place).get('/events/catalog/{type}', { params: { path: { type } }, signal })).data,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const closed = { to: '/w/$workspace/$environment/catalogue', params: place, search: true } as const
  return (
    <>
      <DetailHead title={type} closed={closed}>
        <Link to="/w/$workspace/$environment/events" params={place} search={{ type }} className="link nowrap">
          {words.occurred}
        </Link>
        <AsCurl request={{ path: `${apiPath}/events/catalog/${type}` }} />
      </DetailHead>
      <DetailBody query={query}>
        {({ description, example, schema }) => (
          <>
            <div className="story">
              <p>{description}</p>
            </div>
            <Part title={words.example} value={example} />
            <Part title={words.schema} value={schema} />
          </>
        )}
      </DetailBody>
    </>
  )
}

function Part({ title, value }: { title: string; value: unknown }) {
  return (
    <section>
      <header className="section-head">
        <h3>{title}</h3>
      </header>
      <Code text={stringifyExact(value)} label={title} />
    </section>
  )
}
