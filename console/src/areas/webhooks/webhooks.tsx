import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useParams } from '@tanstack/react-router'
import { apiPath, type Webhook } from '../../api/api.js'
import { latestDeliveriesQuery, webhooksQuery } from '../../api/queries.js'
import { type Column, List } from '../../patterns/list.js'
import { PageHead, Split } from '../../patterns/page.js'
import { State } from '../../patterns/state.js'
import { Time } from '../../patterns/time.js'
import { wholeList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { NothingMatches, Tabs } from '../filters.js'
import { Bars } from './bars.js'
import { NoWebhooks } from './no-webhooks.js'

const route = getRouteApi('/w/$workspace/$environment/webhooks')
const words = texts.webhooks
const statuses = ['active', 'paused'] as const

/** All webhooks and their health. */
export function Webhooks() {
  const { place } = usePlace()
  const { status } = route.useSearch()
  const navigate = useNavigate()
  const { webhookId } = useParams({ strict: false })
  const webhooks = useQuery(webhooksQuery(place))
  const { data = [] } = webhooks
  const items = data.filter((webhook) => status === undefined || webhook.status === status)
  const view = wholeList(webhooks, items)
  return (
    <>
      <PageHead
        title={words.title}
        figures={data.length || undefined}
        request={{ path: `${apiPath}/webhooks` }}
      />
      <Split isOpen={webhookId !== undefined} hint={words.select}>
        <div className="filters">
          <Tabs
            label={texts.deliveries.state}
            value={status}
            options={statuses.map((each) => [each, texts.states[each]])}
            onChange={(next) =>
              void navigate({ to: '.', search: next === undefined ? {} : { status: next }, replace: true })
            }
          />
        </div>
        <List
          label={words.title}
          view={view}
          columns={columns}
          keyOf={({ id }) => id}
          linkOf={({ id }) => ({
            ...{ to: '/w/$workspace/$environment/webhooks/$webhookId', params: { ...place, webhookId: id } },
            search: true,
          })}
          selected={webhookId}
          closed={{ to: '/w/$workspace/$environment/webhooks', params: place, search: true }}
          empty={status === undefined ? <NoWebhooks /> : <NothingMatches title={words.emptyFiltered} />}
        />
      </Split>
    </>
  )
}

const columns: Column<Webhook>[] = [
  {
    id: 'state',
    head: texts.deliveries.state,
    width: '96px',
    narrow: 'state',
    cell: ({ status }) => <State of={status} />,
  },
  { id: 'name', head: words.name, width: 'minmax(140px, 1fr)', narrow: 'title', cell: ({ name }) => name },
  {
    id: 'url',
    head: words.url,
    width: 'minmax(140px, 1.4fr)',
    narrow: 'meta',
    cell: ({ url }) => <span className="mono muted ellipsis">{url.replace(/^https:\/\//, '')}</span>,
  },
  {
    id: 'health',
    head: words.health,
    width: '136px',
    narrow: 'time',
    cell: ({ id }) => <HealthBars id={id} />,
  },
  {
    id: 'failures',
    head: words.failures,
    width: '112px',
    cell: ({ consecutive_failures: failures }) => (
      <span className={`number ${failures > 0 ? 'state-bad' : 'muted'}`}>{failures}</span>
    ),
  },
  {
    id: 'changed',
    head: words.changed,
    width: '88px',
    cell: ({ updated_at: at }) => (
      <span className="muted number">
        <Time at={at} />
      </span>
    ),
  },
]

function HealthBars({ id }: { id: string }) {
  const { place } = usePlace()
  const { data = [] } = useQuery(latestDeliveriesQuery(place, id))
  return <Bars deliveries={data} count={24} />
}
