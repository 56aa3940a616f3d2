import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Execution } from '../../api/api.js'
import { eventDeliveriesQuery, eventExecutionsQuery } from '../../api/queries.js'
import { duration } from '../../format/times.js'
import { DetailSkeleton } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { Sign, type Tone } from '../../patterns/state.js'
import { Time } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { DeliveryRows } from '../deliveries/rows.js'

const words = texts.events

interface Listed<Item> {
  data: readonly Item[] | undefined
  error: unknown
  isPending: boolean
  refetch(): Promise<unknown>
}

/** Where an event went: the webhooks it was delivered to, and the business rules that have run on it. */
export function Consumers({ eventId }: { eventId: string }) {
  const { place, may } = usePlace()
  const mayReadRules = may('executions:read')
  const deliveries = useQuery(eventDeliveriesQuery(place, eventId))
  const rules = useQuery({ ...eventExecutionsQuery(place, eventId), enabled: mayReadRules })
  // Both at the same time, so that none is moved by the other.
  if (deliveries.isPending || (mayReadRules && rules.isPending)) return <DetailSkeleton />
  return (
    <>
      <Part title={words.webhooks} none={words.noDeliveries} list={deliveries}>
        {(data) => <DeliveryRows deliveries={data} by="webhook" />}
      </Part>
      {mayReadRules && (
        <Part title={words.rules} none={words.noRules} list={rules}>
          {(data) => <Executions executions={data} />}
        </Part>
      )}
    </>
  )
}

interface PartProps<Item> {
  title: string
  none: string
  list: Listed<Item>
  children(items: readonly Item[]): ReactNode
}

function Part<Item>({ title, none, list: { data, error, refetch }, children }: PartProps<Item>) {
  return (
    <section>
      <h3 className="section-head">{title}</h3>
      {error && !data ? <Problem error={error} onRetry={() => void refetch()} /> : null}
      {data?.length === 0 && <p className="muted detail-nothing">{none}</p>}
      {data && data.length > 0 && children(data)}
    </section>
  )
}

const tones: Record<Execution['status'], Tone> = {
  ...{ running: 'warn', completed: 'good', failed: 'bad', timeout: 'bad', cancelled: 'idle' },
}

function Executions({ executions }: { executions: readonly Execution[] }) {
  const { place } = usePlace()
  return (
    <ul className="rows">
      {executions.map(({ id, artifact_slug: slug, status, started_at: at, duration_ms: ms }) => (
        <li key={id} className="rows-row">
          <Sign tone={tones[status]}>{words.executionStates[status]}</Sign>
          <Link
            to="/w/$workspace/$environment/record/$reference"
            params={{ ...place, reference: id }}
            className="row-link ellipsis"
            dir="auto"
          >
            {slug}
          </Link>
          <span className="muted number">{ms === null ? '' : duration(ms)}</span>
          <span className="muted number">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  )
}
