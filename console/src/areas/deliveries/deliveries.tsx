import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useParams } from '@tanstack/react-router'
import { memo, useMemo } from 'react'
import { apiPath, type Delivery, type Webhook } from '../../api/api.js'
import { pageSize, readDeliveries, webhooksQuery } from '../../api/queries.js'
import { type Column, List, whenColumn } from '../../patterns/list.js'
import { PageHead, Split } from '../../patterns/page.js'
import { State, StatusCode } from '../../patterns/state.js'
import { useList } from '../../patterns/use-list.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { FilterText, NothingMatches, Tabs } from '../filters.js'
import { type DeliverySearch, deliveryStatuses } from '../search.js'
import { NoWebhooks } from '../webhooks/no-webhooks.js'
import { describeCause } from './causes.js'

const route = getRouteApi('/w/$workspace/$environment/deliveries')
const words = texts.deliveries
const noWebhooks: readonly Webhook[] = []
const detailRoute = '/w/$workspace/$environment/deliveries/$webhookId/$deliveryId'

/** Deliveries of all webhooks, or of one. */
export function Deliveries() {
  const { place } = usePlace()
  const { status, type, webhook } = route.useSearch()
  const { deliveryId } = useParams({ strict: false })
  const { data: webhooks = noWebhooks } = useQuery(webhooksQuery(place))
  const request = {
    path: `${apiPath}/deliveries`,
    query: { status, eventType: type, webhookId: webhook, limit: String(pageSize) },
  }
  return (
    <>
      <PageHead title={words.title} request={request} />
      <Split isOpen={deliveryId !== undefined} hint={words.select}>
        <Filters webhooks={webhooks} />
        <DeliveryList webhooks={webhooks} selected={deliveryId} />
      </Split>
    </>
  )
}

/** Memoized, so that it does not render again for each opened row. */
const Filters = memo(function Filters({ webhooks }: { webhooks: readonly Webhook[] }) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const filter = (change: Partial<Record<keyof DeliverySearch, string | undefined>>) => {
    const all = { ...search, ...change }
    const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value))
    void navigate({ to: '.', search: present as DeliverySearch, replace: true })
  }
  return (
    <div className="filters">
      <Tabs
        label={words.state}
        value={search.status}
        options={deliveryStatuses.map((status) => [status, texts.states[status]])}
        onChange={(status) => filter({ status })}
      />
      <NativeSelect
        size="xs"
        aria-label={words.webhook}
        value={search.webhook ?? ''}
        onChange={({ currentTarget: { value } }) => filter({ webhook: value })}
        data={[
          { value: '', label: words.allWebhooks },
          ...webhooks.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
      <FilterText
        label={words.eventType}
        placeholder={words.eventType}
        example="incident.created"
        value={search.type}
        onChange={(type) => filter({ type })}
      />
    </div>
  )
})

function DeliveryList({
  webhooks,
  selected,
}: {
  webhooks: readonly Webhook[]
  selected: string | undefined
}) {
  const { place } = usePlace()
  const { status, webhook, type } = route.useSearch()
  const filters = { status, webhookId: webhook, eventType: type }
  const view = useList<Delivery>({
    queryKey: [place.workspace, place.environment, 'deliveries', 'list', filters],
    read: (after, signal) => readDeliveries(place, filters, after as string | undefined, signal),
    keyOf: ({ id }) => id,
  })
  const isFiltered = status !== undefined || webhook !== undefined || type !== undefined
  // Stable while the names are unchanged: rows render again when their columns change.
  const columns = useMemo(() => columnsOf(new Map(webhooks.map(({ id, name }) => [id, name]))), [webhooks])
  return (
    <List
      label={words.title}
      view={view}
      columns={columns}
      keyOf={({ id }) => id}
      linkOf={({ webhookId, id }) => ({
        to: detailRoute,
        params: { ...place, webhookId, deliveryId: id },
        search: true,
      })}
      selected={selected}
      closed={{ to: '/w/$workspace/$environment/deliveries', params: place, search: true }}
      empty={
        isFiltered ? (
          <NothingMatches title={words.emptyFiltered} />
        ) : webhooks.length === 0 ? (
          <NoWebhooks />
        ) : (
          <NoWebhooks title={words.empty} />
        )
      }
    />
  )
}

const columnsOf = (names: ReadonlyMap<string, string>): Column<Delivery>[] => [
  {
    id: 'state',
    head: words.state,
    width: '108px',
    narrow: 'state',
    cell: ({ status }) => <State of={status} />,
    hintOf: ({ status }) => texts.states[status],
  },
  {
    id: 'event',
    head: words.event,
    width: 'minmax(140px, 1.2fr)',
    narrow: 'title',
    cell: ({ eventType }) => eventType,
  },
  {
    id: 'endpoint',
    head: words.webhook,
    width: 'minmax(120px, 1.4fr)',
    narrow: 'meta',
    cell: (delivery) => <Endpoint delivery={delivery} name={names.get(delivery.webhookId)} />,
  },
  {
    id: 'outcome',
    head: words.outcome,
    width: 'minmax(110px, 1fr)',
    cell: (delivery) => <Outcome {...delivery} />,
  },
  {
    id: 'attempts',
    head: words.attempts,
    width: '72px',
    cell: ({ attempts }) => <span className="muted number">{attempts}</span>,
  },
  whenColumn(words.when),
]

function Endpoint({ delivery, name }: { delivery: Delivery; name: string | undefined }) {
  return (
    <span className="row">
      <span key={name} className="ellipsis" dir="auto">
        {name ?? delivery.url}
      </span>
      <span className="only-narrow row muted">
        <Outcome {...delivery} />
      </span>
    </span>
  )
}

/** The last response or error. */
export function Outcome(delivery: Pick<Delivery, 'lastResponseStatus' | 'lastError' | 'attempts'>) {
  const { lastResponseStatus, lastError, attempts } = delivery
  if (lastResponseStatus !== null) return <StatusCode status={lastResponseStatus} />
  if (lastError !== null) return <span className="ellipsis state-bad">{describeCause(delivery)}</span>
  return <span className="muted">{attempts === 0 ? '–' : ''}</span>
}
