import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Execution, Run } from '../../api/api.js'
import { eventDeliveriesQuery, eventExecutionsQuery, eventRunsQuery } from '../../api/queries.js'
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
  isLoading: boolean
  refetch(): Promise<unknown>
}

/** Consumers of an event: webhook deliveries, started workflows, and executed business rules. */
export function Consumers({ eventId }: { eventId: string }) {
  const { place, may } = usePlace()
  const deliveries = useQuery({
    ...eventDeliveriesQuery(place, eventId),
    enabled: may('webhooks:read'),
  })
  const runs = useQuery({ ...eventRunsQuery(place, eventId), enabled: may('runs:read') })
  const executions = useQuery({ ...eventExecutionsQuery(place, eventId), enabled: may('executions:read') })
  // All lists appear together, so that none shifts another.
  if ([deliveries, runs, executions].some(({ isLoading }) => isLoading)) return <DetailSkeleton />
  return (
    <>
      <Part title={words.webhooks} none={words.noDeliveries} permission="webhooks:read" list={deliveries}>
        {(data) => <DeliveryRows deliveries={data} by="webhook" />}
      </Part>
      <Part title={words.workflows} none={words.noRuns} permission="runs:read" list={runs}>
        {(data) => <Rows rows={data.map(runRow)} />}
      </Part>
      <Part title={words.rules} none={words.noRules} permission="executions:read" list={executions}>
        {(data) => <Rows rows={data.map(executionRow)} />}
      </Part>
    </>
  )
}

interface PartProps<Item> {
  title: string
  none: string
  permission: string
  list: Listed<Item>
  children(items: readonly Item[]): ReactNode
}

function Part<Item>({ title, none, permission, list, children }: PartProps<Item>) {
  const { may } = usePlace()
  const { data, error, refetch } = list
  return (
    <section aria-label={title}>
      <h3 className="section-head">{title}</h3>
      {!may(permission) && <p className="muted detail-nothing">{words.hidden(permission)}</p>}
      {error && !data ? <Problem error={error} onRetry={() => void refetch()} /> : null}
      {data?.length === 0 && <p className="muted detail-nothing">{none}</p>}
      {data && data.length > 0 && children(data)}
    </section>
  )
}

interface Row {
  id: string
  name: string
  tone: Tone
  state: string
  at: string
  ms: number | null
}

const executionTones: Record<Execution['status'], Tone> = {
  ...{ running: 'warn', completed: 'good', failed: 'bad', timeout: 'bad', cancelled: 'idle' },
}
const runTones: Record<Run['status'], Tone> = {
  ...{ queued: 'idle', running: 'warn', waiting: 'warn', paused: 'warn' },
  ...{ completed: 'good', failed: 'bad', dead: 'bad', cancelled: 'idle' },
}

const executionRow = ({
  id,
  artifact_slug: name,
  status,
  started_at: at,
  duration_ms: ms,
}: Execution): Row => ({
  ...{ id, name, at, ms },
  ...{ tone: executionTones[status], state: words.executionStates[status] },
})

const runRow = ({ id, workflowName, status, queuedAt: at, startedAt, endedAt }: Run): Row => ({
  ...{ id, name: workflowName, at },
  ...{ tone: runTones[status], state: words.runStates[status] },
  ms: startedAt === null || endedAt === null ? null : Date.parse(endedAt) - Date.parse(startedAt),
})

function Rows({ rows }: { rows: readonly Row[] }) {
  const { place } = usePlace()
  return (
    <ul className="rows">
      {rows.map(({ id, name, tone, state, at, ms }) => (
        <li key={id} className="rows-row">
          <Sign tone={tone}>{state}</Sign>
          <Link
            to="/w/$workspace/$environment/record/$reference"
            params={{ ...place, reference: id }}
            className="row-link ellipsis"
            dir="auto"
          >
            {name}
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
