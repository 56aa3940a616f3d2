import { stringifyExact } from '@opsplane/client'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { apiPath, type TopicEvent } from '../../api/api.js'
import { useCommand } from '../../patterns/curl.js'
import { Code } from '../../patterns/json.js'
import { DetailSkeleton, PageHead } from '../../patterns/page.js'
import { Empty, Problem } from '../../patterns/problem.js'
import { Time } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { FilterText } from '../filters.js'
import { maxShown, useTopic } from './use-topic.js'

const route = getRouteApi('/w/$workspace/$environment/topics')
const words = texts.topics
const namePattern = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/** Live view of the events of a topic, newest first. */
export function Topics() {
  const { name } = route.useSearch()
  const navigate = useNavigate()
  return (
    <>
      <PageHead
        title={words.title}
        request={{
          path: `${apiPath}/events/topics/${name ?? 'orders.created'}/events`,
          query: { timeout: '20000' },
        }}
      />
      <div className="filters">
        <FilterText
          label={words.name}
          placeholder={words.placeholder}
          value={name}
          pattern={namePattern}
          wrong={words.wrong}
          onChange={(next) =>
            void navigate({ to: '.', search: next === undefined ? {} : { name: next }, replace: true })
          }
        />
      </div>
      <div className="topic">{name === undefined ? <WhichTopic /> : <Topic key={name} name={name} />}</div>
    </>
  )
}

const usePublishing = (name: string) =>
  useCommand({
    method: 'POST',
    path: `${apiPath}/events/topics/${name}/publish`,
    body: { type: 'order.created', payload: { amount: 5 } },
  })

const WhichTopic = () => (
  <Empty title={words.choose} help={words.chooseHelp} command={usePublishing('orders.created')} />
)

function Topic({ name }: { name: string }) {
  const { place } = usePlace()
  const { events, isCut, isLoading, error, retry } = useTopic(place, name)
  const command = usePublishing(name)
  if (error !== undefined && events.length === 0) return <Problem error={error} onRetry={retry} />
  if (isLoading) return <DetailSkeleton />
  if (events.length === 0) return <Empty title={words.empty(name)} help={words.emptyHelp} command={command} />
  return (
    <>
      {error !== undefined && <Problem error={error} onRetry={retry} />}
      <ol className="topic-events">
        {events.map((event) => (
          <TopicRow key={event.id} event={event} />
        ))}
      </ol>
      {isCut && <p className="list-end small muted">{words.cut(maxShown)}</p>}
    </>
  )
}

function TopicRow({ event: { id, type, payload, createdAt } }: { event: TopicEvent }) {
  const text = stringifyExact(payload)
  return (
    <li>
      <details>
        <summary className="topic-row">
          <strong className="ellipsis">{type}</strong>
          <code className="ellipsis muted">{text}</code>
          <span className="muted number">
            <Time at={createdAt} />
          </span>
        </summary>
        <Code text={text} label={`${words.payload} ${id}`} />
      </details>
    </li>
  )
}
