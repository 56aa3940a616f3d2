import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { apiPath, type PlatformStatus } from '../../api/api.js'
import { DetailSkeleton } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { Stale } from '../../patterns/stale.js'
import { Sign } from '../../patterns/state.js'
import { Time, useNow } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { PlatformFrame } from './head.js'
import { statusQuery } from './queries.js'
import {
  countDeadLetters,
  countLate,
  countPending,
  countText,
  findProblems,
  isNatsAway,
  type ServiceProblem,
} from './service-problems.js'

const words = texts.platform

/** Status of the installation; problems and their remedies come first. */
export function StatusPage() {
  return (
    <PlatformFrame request={{ path: `${apiPath}/platform/status` }}>
      <Status />
    </PlatformFrame>
  )
}

function Status() {
  const { data, error, dataUpdatedAt, refetch } = useQuery(statusQuery)
  const now = useNow()
  if (data === undefined)
    return error ? <Problem error={error} onRetry={() => void refetch()} /> : <DetailSkeleton />
  const services = data.services.map((service) => ({ service, troubles: findProblems(service, now) }))
  const isAway = isNatsAway(data.services)
  const count = services.reduce((sum, { troubles }) => sum + troubles.length, isAway ? 1 : 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section className="platform" aria-label={words.tabs.status} tabIndex={0}>
      <p className="story">
        {count === 0 ? (
          <Sign tone="good">{words.allGood}</Sign>
        ) : (
          <Sign tone="bad">{words.troubles(count)}</Sign>
        )}
      </p>
      {isAway && <p className="story state-bad">{words.natsAway}</p>}
      <Services services={services} />
      <Webhooks webhooks={data.webhooks} workspaces={data.workspaces} />
      <Workspaces status={data} />
      {error && <Stale sinceMs={dataUpdatedAt} className="list-stale detail-stale small" />}
    </section>
  )
}

interface Shown {
  service: PlatformStatus['services'][number]
  troubles: ServiceProblem[]
}

function Services({ services }: { services: readonly Shown[] }) {
  const heads = [words.unpublished, words.consumers, words.dueWork, words.deadLetters]
  return (
    <table className="services">
      <thead>
        <tr>
          <th scope="col">{words.service}</th>
          <th scope="col">{words.state}</th>
          {heads.map((head) => (
            <th key={head} scope="col" className="figure-cell">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      {services.map((shown) => (
        <ServiceRows key={shown.service.name} {...shown} />
      ))}
    </table>
  )
}

function ServiceRows({ service: { name, state, figures }, troubles }: Shown) {
  const { place } = usePlace()
  const has = (kind: ServiceProblem['kind']) => troubles.some((trouble) => trouble.kind === kind)
  const pending = figures === null ? undefined : countPending(figures)
  const oldest = figures?.oldestUnpublishedAt
  return (
    <tbody>
      <tr>
        <th scope="row">{name}</th>
        <td>
          <Sign tone={has('down') ? 'bad' : 'good'}>{state === 'up' ? words.up : state}</Sign>
        </td>
        <Figure isBad={has('unpublished')} head={words.unpublished}>
          {figures ? countText(figures.unpublished, 100_000) : words.unknown}
          {oldest && (
            <span className="small">
              {' '}
              {words.oldest} <Time at={oldest} />
            </span>
          )}
        </Figure>
        <Figure isBad={has('consumers')} head={words.consumers}>
          {pending === undefined ? words.unknown : pending.toLocaleString('en')}
        </Figure>
        <Figure isBad={has('dueWork')} head={words.dueWork}>
          {figures ? countText(countLate(figures), 10_000) : words.unknown}
        </Figure>
        <Figure isBad={has('deadLetters')} head={words.deadLetters}>
          {figures ? countText(countDeadLetters(figures), 10_000) : words.unknown}
        </Figure>
      </tr>
      {troubles.map(({ kind, next }) => (
        <tr key={kind} className="services-next">
          <td colSpan={6}>
            <span className="state-bad">{next}</span>{' '}
            {kind === 'deadLetters' && (
              <Link
                className="link link-in-text"
                to="/w/$workspace/$environment/platform/dead-letters"
                params={place}
                search={{ service: name }}
              >
                {words.open}
              </Link>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  )
}

interface FigureProps {
  head: string
  isBad: boolean
  children: React.ReactNode
}

const Figure = ({ head, isBad, children }: FigureProps) => (
  <td className={`figure-cell number ${isBad ? 'state-bad' : 'muted'}`} data-head={head}>
    {children}
  </td>
)

interface WebhooksProps extends Pick<PlatformStatus, 'webhooks' | 'workspaces'> {}

function Webhooks({ webhooks, workspaces }: WebhooksProps) {
  const slugs = new Map(workspaces.map(({ id, slug }) => [id, slug]))
  return (
    <section className="panel">
      <h2>{words.webhooks}</h2>
      {webhooks === null && <p className="state-bad">{words.webhooksAway}</p>}
      {webhooks?.length === 0 && <p className="muted">{words.noWebhooks}</p>}
      <ul className="things">
        {webhooks?.map(({ id, name, workspaceId, environment, waiting, oldestAt }) => (
          <li key={id} className="thing">
            <span className="grow">
              <strong dir="auto">{name}</strong>
              <span className="small muted block">
                {slugs.get(workspaceId) ?? workspaceId} · {texts.environments[environment]}
              </span>
            </span>
            <span className="number">{words.waiting(countText(waiting, 10_000))}</span>
            <span className="muted">
              {words.oldest} <Time at={oldestAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Workspaces({ status: { workspaces, workspaceCount } }: { status: PlatformStatus }) {
  const more = workspaceCount - workspaces.length
  return (
    <section className="panel">
      <h2>
        {words.workspaces} <span className="muted number">{workspaceCount}</span>
      </h2>
      <ul className="things">
        {workspaces.map(({ id, slug, name, members }) => (
          <li key={id} className="thing">
            <span className="grow ellipsis">
              <strong dir="auto">{name}</strong> <span className="mono muted">{slug}</span>
            </span>
            <span className="muted number">{words.members(members)}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="muted">{words.andMore(more)}</p>}
    </section>
  )
}
