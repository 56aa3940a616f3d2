import { Button, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { apiPath, createApi, type Delivery, type Webhook } from '../../api/api.js'
import { latestDeliveriesQuery, webhookQuery, webhooksQuery } from '../../api/queries.js'
import { duration } from '../../format/times.js'
import { Id } from '../../patterns/copy.js'
import { AsCurl } from '../../patterns/curl.js'
import { DetailTabs } from '../../patterns/detail-tabs.js'
import { Icon } from '../../patterns/icons.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { Refusal } from '../../patterns/refusal.js'
import { State } from '../../patterns/state.js'
import { ExactTime } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { DeliveryRows } from '../deliveries/rows.js'
import { Bars } from './bars.js'
import { computeHealth } from './health.js'
import { Replay } from './replay.js'
import { Signature } from './signature.js'

const route = getRouteApi('/w/$workspace/$environment/webhooks/$webhookId')
const words = texts.webhooks
const barCount = 50
const rowCount = 10

/** One webhook: its health, the reason of a pause, and its recent deliveries. */
export function WebhookPage() {
  const { webhookId } = route.useParams()
  const { place } = usePlace()
  const query = useQuery(webhookQuery(place, webhookId))
  const { data } = query
  const latest = useQuery(latestDeliveriesQuery(place, webhookId))
  const closed = { to: '/w/$workspace/$environment/webhooks', params: place, search: true } as const
  return (
    <>
      <DetailHead title={data?.name ?? words.facts.id} closed={closed}>
        {data && <Actions webhook={data} />}
        <AsCurl request={{ path: `${apiPath}/webhooks/${webhookId}` }} />
      </DetailHead>
      <DetailBody query={{ ...query, data: latest.isPending ? undefined : data }}>
        {(data) => (
          <>
            <div className="story">
              <State of={data.status} />
              <p>{storyOf(data, latest.data ?? [])}</p>
            </div>
            {latest.error && !latest.data ? (
              <Problem error={latest.error} />
            ) : (
              <Figures deliveries={latest.data ?? []} />
            )}
            <WebhookFacts webhook={data} />
            <Parts webhook={data} deliveries={latest.data ?? []} />
          </>
        )}
      </DetailBody>
    </>
  )
}

const tabs = ['deliveries', 'replay', 'signature'] as const

function Parts({ webhook, deliveries }: { webhook: Webhook; deliveries: readonly Delivery[] }) {
  const search = route.useSearch()
  const navigate = useNavigate()
  const tab = tabs.find((each) => each === search.tab) ?? 'deliveries'
  return (
    <>
      <DetailTabs
        tabs={tabs.map((each) => [each, words.tabs[each]])}
        chosen={tab}
        onChoose={(next) => void navigate({ to: '.', search: { ...search, tab: next }, replace: true })}
      />
      <div role="tabpanel" aria-label={words.tabs[tab]}>
        {tab === 'deliveries' && <Latest webhookId={webhook.id} deliveries={deliveries} />}
        {tab === 'replay' && <Replay webhookId={webhook.id} />}
        {tab === 'signature' && <Signature webhook={webhook} />}
      </div>
    </>
  )
}

function storyOf(
  { paused_reason: reason, consecutive_failures: failures }: Webhook,
  latest: readonly Delivery[],
): string {
  if (reason !== null) return words.reasons[reason]
  if (failures > 0) return words.unhealthy(failures)
  const { failed, unresolved, succeededShare } = computeHealth(latest)
  if (succeededShare === undefined) return `${words.noDeliveries}.`
  return failed > 0 ? words.recovered(unresolved) : words.healthy
}

function Actions({ webhook: { id, name, status } }: { webhook: Webhook }) {
  const { place, may } = usePlace()
  const queries = useQueryClient()
  const params = { path: { id } }
  const settle = () =>
    Promise.all(
      [webhookQuery(place, id), webhooksQuery(place)].map(({ queryKey }) =>
        queries.invalidateQueries({ queryKey }),
      ),
    )
  const test = useMutation({ mutationFn: () => createApi(place).post('/webhooks/{id}/test', { params }) })
  const turn = useMutation({
    mutationFn: (next: 'active' | 'paused') =>
      createApi(place).patch('/webhooks/{id}', { params, body: { status: next } }),
    onSuccess: ({ data }) =>
      notifications.show({ message: data.status === 'active' ? words.resumed(name) : words.pausedNow(name) }),
    onSettled: settle,
  })
  if (!may('webhooks:write')) return null
  const error = test.error ?? turn.error
  const tested = test.data?.data
  return (
    <>
      <Refusal error={error} />
      {tested && !error && (
        <span className={`ellipsis ${tested.status < 300 ? 'state-good' : 'state-bad'}`} role="status">
          {words.tested(tested.status, tested.latency_ms)}
        </span>
      )}
      <Tooltip label={words.testHint}>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="send" />}
          loading={test.isPending}
          onClick={() => test.mutate()}
        >
          {words.test}
        </Button>
      </Tooltip>
      {status === 'paused' ? (
        <Button
          size="xs"
          leftSection={<Icon name="play" />}
          loading={turn.isPending}
          onClick={() => turn.mutate('active')}
        >
          {words.resume}
        </Button>
      ) : (
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="pause" />}
          loading={turn.isPending}
          onClick={() => turn.mutate('paused')}
        >
          {words.pause}
        </Button>
      )}
    </>
  )
}

function Figures({ deliveries }: { deliveries: readonly Delivery[] }) {
  const { total, failed, succeededShare, medianMs, p95Ms } = computeHealth(deliveries)
  if (total === 0) return null
  const figures: [name: string, value: string | undefined, tone?: string | undefined][] = [
    [words.succeededShare, succeededShare === undefined ? undefined : `${succeededShare} %`],
    [words.failedCount, String(failed), failed > 0 ? 'state-bad' : undefined],
    [words.p50, medianMs === undefined ? undefined : duration(medianMs)],
    [words.p95, p95Ms === undefined ? undefined : duration(p95Ms)],
  ]
  return (
    <section className="figures">
      <h3 className="small muted figures-title">{words.ofLast(total)}</h3>
      {figures.map(([name, value, tone]) => (
        <div key={name} className="figure">
          <strong className={tone}>{value ?? '–'}</strong>
          <span className="small muted">{name}</span>
        </div>
      ))}
      <Bars deliveries={deliveries} count={barCount} isLarge />
    </section>
  )
}

/** A schedule overrides the strategy; its last delay repeats. */
const delaysOf = ({ retries, retry_schedule: schedule, retry_strategy: strategy }: Webhook): string =>
  schedule === null ? strategy : words.retriesAfter(schedule.slice(0, retries))

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const names = words.facts
  const { rate_limit_per_second: rate, ordering_key: ordering } = webhook
  return (
    <Facts
      facts={[
        [names.id, <Id key="id" value={webhook.id} />],
        [
          names.url,
          <span key="url" className="mono ellipsis" title={webhook.url}>
            {webhook.url}
          </span>,
        ],
        [
          names.events,
          <span key="events" className="mono ellipsis" title={webhook.events.join(', ')}>
            {webhook.events.join(', ')}
          </span>,
        ],
        [names.secret, webhook.has_secret ? texts.common.yes : texts.common.no],
        [names.retries, words.retriesOf(webhook.retries, delaysOf(webhook))],
        [names.timeout, duration(webhook.timeout_ms)],
        [names.rate, rate === null ? undefined : words.perSecond(rate)],
        [names.ordering, ordering && <code>{ordering}</code>],
        [names.created, <ExactTime key="created" at={webhook.created_at} />],
      ]}
    />
  )
}

function Latest({ webhookId, deliveries }: { webhookId: string; deliveries: readonly Delivery[] }) {
  const { place } = usePlace()
  const to = '/w/$workspace/$environment/deliveries'
  return (
    <section>
      <header className="section-head">
        <span className="grow" />
        <Link to={to} params={place} search={{ webhook: webhookId, status: 'failed' }} className="link">
          {words.onlyFailed}
        </Link>
        <Link to={to} params={place} search={{ webhook: webhookId }} className="link">
          {words.allDeliveries}
        </Link>
      </header>
      {deliveries.length === 0 ? (
        <p className="muted detail-nothing">{words.noDeliveries}</p>
      ) : (
        <DeliveryRows deliveries={deliveries.slice(0, rowCount)} />
      )}
    </section>
  )
}
